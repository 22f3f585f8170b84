"""A report as text, for a terminal or a file: the summary, what to do, then the rest."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..environment import cached_lookups
from ..patch import Status, apply_call
from ..text import plural, short_list
from . import advice
from .legacy import LegacyReport
from .record import CORRECT_THE_ENVIRONMENT, PatchRecord, with_status
from .status import CONCERNED, ROWS, TROUBLE

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table


_LEAST_ROOM = 30
"""Columns that a title needs beside its id; with fewer it goes below."""
_IDS_SHOWN = 10
"""Ids that a line names of patches that are not due; HTML and JSON have all."""


@dataclass(frozen=True)
class PrintedReport:
    """A report for a rich console, as wide as that is."""

    report: Sequence[PatchRecord]
    legacy: LegacyReport | None = None
    refusals: Sequence[str] = ()

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        with cached_lookups():
            yield from _blocks(self.report, self.refusals, options.max_width)
            if self.legacy is not None:
                yield from _legacy_lines(self.legacy)


def as_text(
    report: Sequence[PatchRecord], legacy: LegacyReport | None = None, refusals: Sequence[str] = ()
) -> str:
    """Return the report in 80 columns without colours, for files and `print`."""
    return plain_text(PrintedReport(report, legacy, refusals))


def plain_text(printed: RenderableType, width: int = 80) -> str:
    """Return something for a rich console as text without colours.

    Letters that standard output cannot encode become question marks, so that `print` never raises.
    """
    from rich.console import Console

    file = io.StringIO()
    console = Console(
        file=file, width=width, color_system=None, highlight=False, force_jupyter=False
    )
    console.print(printed, crop=False)  # an id that runs over the edge stays whole
    text = "\n".join(line.rstrip() for line in file.getvalue().splitlines())
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def _blocks(
    report: Sequence[PatchRecord], refusals: Sequence[str], width: int
) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    from ..about import __version__

    yield Text(f"patchkit {__version__}: {advice.summary_line(report)}", style="bold")
    if versions := _versions(report):
        yield Text(f"on {', '.join(versions)}", style="dim")
    trouble = [record for status in TROUBLE for record in with_status(report, status)]
    if refusals or trouble:
        yield Text("\nneeds attention", style="bold")
        yield _trouble_table(trouble, refusals)
    for doubt, ids in advice.doubts(report).items():
        yield Text.assemble(
            ("\nuntested", "bold yellow"),
            f" {doubt}: {short_list(ids, _IDS_SHOWN)}\n-> `patchkit verify` runs them here",
        )
    for heading, records in _sections(report, refusals):
        yield Text(f"\n{heading}", style="bold")
        yield from _title_rows(records, width)
    if pending := [record.id for record in with_status(report, Status.PENDING)]:
        yield Text("\npending (each is applied when its module is imported)", style="bold")
        yield Padding(Text(", ".join(pending), style=ROWS[Status.PENDING].style), (0, 0, 0, 2))
    if not_due := list(_not_due(report)):
        yield Text("\n" + "\n".join(not_due), style="dim")


def _legacy_lines(legacy: LegacyReport) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    yield Text(f"\n{legacy.heading()}", style="bold")
    for line in legacy.lines():
        yield Padding(Text(line, overflow="fold"), (0, 0, 0, 2))


def _versions(report: Sequence[PatchRecord]) -> list[str]:
    due = (record for record in report if record.status in CONCERNED and record.version)
    return list(dict.fromkeys(f"{record.library}=={record.version}" for record in due))


def _trouble_table(records: Sequence[PatchRecord], refusals: Sequence[str]) -> Table:
    """Return a row for each problem; an unreadable version is one, for all of its patches."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    alarming = ROWS[Status.FAILED].style
    for refusal in refusals:
        cell = Text(f"{refusal}\n-> {CORRECT_THE_ENVIRONMENT}")
        table.add_row(Text("  environment", style=alarming), cell)
    unreadable = advice.unreadable_versions(records)
    for reason, hidden in unreadable.items():
        ids = short_list((record.id for record in hidden), _IDS_SHOWN)
        cell = Text.assemble((reason, "bold"), f"\n{ids}\n-> {hidden[0].advice}")
        table.add_row(Text("  environment", style=alarming), cell)
    for record in records:
        if record.reason in unreadable:
            continue
        library = f" ({record.library} {record.version or 'absent'})" if record.library else ""
        lines = f"\n{record.title}\n{record.reason}\n-> {record.advice}"
        status = Text(f"  {record.status.value}", style=ROWS[record.status].style)
        table.add_row(status, Text.assemble((record.id + library, "bold"), lines))
    return table


def _sections(
    report: Sequence[PatchRecord], refusals: Sequence[str]
) -> Iterator[tuple[str, list[PatchRecord]]]:
    """Yield headings, and the patches below each."""
    if applied := with_status(report, Status.APPLIED):
        targets = [target for record in applied for target in record.targets]
        changed = sum(target.status is Status.APPLIED for target in targets)
        functions = f"{plural(changed, 'function')} changed"
        waiting = sum(target.status is Status.PENDING for target in targets)
        later = f", {waiting} to come with their modules" if waiting else ""
        yield f"applied ({functions}{later}; report().diff() shows them)", applied
    available = with_status(report, Status.AVAILABLE)
    if available := [record for record in available if not record.opt_in]:
        how = "" if refusals else " -> patchkit.apply(), or patchkit run -- COMMAND"
        yield f"due here, not applied{how}", available


def _title_rows(records: Sequence[PatchRecord], width: int) -> Iterator[RenderableType]:
    """Yield each id beside its title, or above it in a narrow terminal."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    widest = max(len(record.id) for record in records)
    if width - widest - 4 < _LEAST_ROOM:
        for record in records:
            # Whole, even beyond the edge, so that it can be copied.
            yield Text(f"  {record.id}", style=ROWS[record.status].style, overflow="ignore")
            yield Padding(Text(record.title, overflow="fold"), (0, 0, 0, 4))
        return
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(width=widest + 2)
    table.add_column(overflow="fold")
    for record in records:
        name = Padding(Text(record.id, style=ROWS[record.status].style), (0, 0, 0, 2))
        table.add_row(name, Text(record.title))
    yield table


def _not_due(report: Sequence[PatchRecord]) -> Iterator[str]:
    """Yield a line for each kind of patch that is not due."""
    for record in filter(advice.is_opt_in, report):
        yield f"on request: {record.id}, by {apply_call(record.opt_in)}"
    disabled: dict[str, list[str]] = {}
    for record in with_status(report, Status.DISABLED):
        disabled.setdefault(record.reason, []).append(record.id)
    for reason, ids in disabled.items():
        yield f"disabled, {reason}: {short_list(ids, _IDS_SHOWN)}"
    if ids := [record.id for record in with_status(report, Status.NOT_AFFECTED)]:
        yield f"not affected: {short_list(ids, _IDS_SHOWN)}"
    if ids := [record.id for record in with_status(report, Status.UNTESTED)]:
        yield f"untested, older than any measured release: {short_list(ids, _IDS_SHOWN)}"
    absent = with_status(report, Status.NOT_INSTALLED)
    names = dict.fromkeys(record.id if record.version else record.library for record in absent)
    if names:
        yield f"not installed: {short_list(names, _IDS_SHOWN)}"

"""A report as text, for a terminal or a file: how it stands, what to do, then the rest."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..environment import cached_lookups
from ..patch import Status, call
from ..text import plural, short_list
from . import advice
from .record import PatchRecord, with_status
from .status import CONCERNED, ROWS, TROUBLE

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table


_LEAST_ROOM = 30
"""Columns that a title needs beside its id; with fewer it stands below."""
_WIDEST_ID = 40
_FOLDED = 10
"""How many ids a line names of those that are not due; HTML and JSON have all."""


class Printed:
    """A report for a rich console, as wide as that is."""

    def __init__(self, report: Sequence[PatchRecord]) -> None:
        self.report = report

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        with cached_lookups():
            yield from _blocks(self.report, options.max_width)


def as_text(report: Sequence[PatchRecord]) -> str:
    """The report in 80 columns without colours, for files and `print`."""
    return plain_text(Printed(report))


def plain_text(printed: RenderableType, width: int = 80) -> str:
    """Something for a rich console as text, without colours.

    Letters that standard output cannot encode become question marks: `print` must not raise.
    """
    from rich.console import Console

    file = io.StringIO()
    console = Console(
        file=file, width=width, color_system=None, highlight=False, force_jupyter=False
    )
    console.print(printed)
    text = "\n".join(line.rstrip() for line in file.getvalue().splitlines())
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def _blocks(report: Sequence[PatchRecord], width: int) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    from ..about import __version__

    yield Text(f"patchkit {__version__}: {advice.standing(report)}", style="bold")
    if versions := _versions(report):
        yield Text(f"on {', '.join(versions)}", style="dim")
    if any(one.status in TROUBLE for one in report):
        yield Text("\nneeds attention", style="bold")
        yield _troubled([one for status in TROUBLE for one in with_status(report, status)])
    for against, ids in advice.doubtful(report).items():
        yield Text.assemble(
            ("\nuntested", "bold yellow"),
            f" {against}: {short_list(ids, _FOLDED)}\n-> `patchkit verify` runs them here",
        )
    for heading, records in _lists(report):
        yield Text(f"\n{heading}", style="bold")
        yield from _titles(records, width)
    if pending := [one.id for one in with_status(report, Status.PENDING)]:
        yield Text("\npending (each is applied when its module is imported)", style="bold")
        yield Padding(Text(", ".join(pending), style=ROWS[Status.PENDING].style), (0, 0, 0, 2))
    if not_due := list(_folded(report)):
        yield Text("\n" + "\n".join(not_due), style="dim")


def _versions(report: Sequence[PatchRecord]) -> list[str]:
    due = (one for one in report if one.status in CONCERNED and one.version)
    return list(dict.fromkeys(f"{one.library}=={one.version}" for one in due))


def _troubled(records: Sequence[PatchRecord]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in records:
        library = f" ({one.library} {one.version or 'absent'})" if one.library else ""
        what = Text.assemble(
            (one.id + library, "bold"), f"\n{one.title}\n{one.reason}\n-> {one.advice}"
        )
        table.add_row(Text(f"  {one.status.value}", style=ROWS[one.status].style), what)
    return table


def _lists(report: Sequence[PatchRecord]) -> Iterator[tuple[str, list[PatchRecord]]]:
    """Headings, and the patches below each."""
    if applied := with_status(report, Status.APPLIED):
        targets = [target for one in applied for target in one.targets]
        changed = sum(one.status is Status.APPLIED for one in targets)
        functions = f"{plural(changed, 'function')} changed"
        waiting = sum(one.status is Status.PENDING for one in targets)
        later = f", {waiting} to come with their modules" if waiting else ""
        yield f"applied ({functions}{later}; report().diff() shows them)", applied
    available = [one for one in with_status(report, Status.AVAILABLE) if not one.opt_in]
    if available:
        yield "due here, not applied -> patchkit.apply(), or patchkit run -- COMMAND", available


def _titles(records: Sequence[PatchRecord], width: int) -> Iterator[RenderableType]:
    """Each id beside its title, or above it where the terminal is narrow."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    widest = min(max(len(one.id) for one in records), _WIDEST_ID)
    if width - widest - 4 < _LEAST_ROOM:
        for one in records:
            yield Padding(Text(one.id, style=ROWS[one.status].style, overflow="fold"), (0, 0, 0, 2))
            yield Padding(Text(one.title, overflow="fold"), (0, 0, 0, 4))
        return
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(width=widest + 2, overflow="fold")
    table.add_column(overflow="fold")
    for one in records:
        name = Padding(Text(one.id, style=ROWS[one.status].style, overflow="fold"), (0, 0, 0, 2))
        table.add_row(name, Text(one.title))
    yield table


def _folded(report: Sequence[PatchRecord]) -> Iterator[str]:
    """What is not due, one line a kind."""
    for one in filter(advice.is_unasked, report):
        yield f"on request: {one.id}, by {call(one.opt_in)}"
    disabled: dict[str, list[str]] = {}
    for one in with_status(report, Status.DISABLED):
        disabled.setdefault(one.reason, []).append(one.id)
    for reason, ids in disabled.items():
        yield f"disabled, {reason}: {short_list(ids, _FOLDED)}"
    if ids := [one.id for one in with_status(report, Status.NOT_AFFECTED)]:
        yield f"not affected: {short_list(ids, _FOLDED)}"
    absent = with_status(report, Status.NOT_INSTALLED)
    if names := dict.fromkeys(one.id if one.version else one.library for one in absent):
        yield f"not installed: {short_list(names, _FOLDED)}"

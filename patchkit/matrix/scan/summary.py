"""Summarize a scan, as text and as an exit status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..outcome_table import SCAN_TABLE, STATES
from ..records import OF_THE_RELEASE, Scan
from .run import ScanResult

if TYPE_CHECKING:
    from rich.console import RenderableType

_TROUBLE = {state.name: state.style for state in SCAN_TABLE if state.style}
_STYLES = {**_TROUBLE, "unlisted": "bold yellow", "not scanned": "bold red", "note": "dim"}


@dataclass(frozen=True)
class Line:
    """A problem, and the releases that have it.

    Args:
        kind: `drifted`, `present`, `unlisted`, `not scanned` or `note`.
        patch: id of the patch; empty if it concerns a whole release.
        text: the problem in words.
        library: the distribution.
        versions: the releases that have it.
    """

    kind: str
    patch: str
    text: str
    library: str
    versions: tuple[str, ...]

    @property
    def place(self) -> str:
        first, last = self.versions[0], self.versions[-1]
        several = f" to {last}, {len(self.versions)} releases" if first != last else ""
        return f"{self.library} {first}{several}"


def lines(result: ScanResult, ids: Collection[str] = ()) -> list[Line]:
    """Return the problems; one that several releases share is one line."""
    releases: dict[tuple[str, str, str, str], list[str]] = {}
    for scan in result.scans:
        for kind, patch, text in _remarks(scan):
            if not ids or not patch or patch in ids:
                releases.setdefault((kind, scan.library, patch, text), []).append(scan.version)
    found = [
        Line(kind, patch, text, library, tuple(versions))
        for (kind, library, patch, text), versions in releases.items()
    ]
    order = list(_STYLES)
    return sorted(found, key=lambda line: (order.index(line.kind), line.library, line.patch))


def _remarks(scan: Scan) -> Iterator[tuple[str, str, str]]:
    if scan.problem:
        yield "not scanned", "", scan.problem
    for patch, state in scan.states.items():
        if state in _TROUBLE:
            yield state, patch, scan.notes.get(patch, "")
    for patch, places in scan.unlisted.items():
        for place in places:
            yield "unlisted", patch, place
    if OF_THE_RELEASE in scan.notes:
        yield "note", "", scan.notes[OF_THE_RELEASE]


def exit_status(result: ScanResult, ids: Collection[str] = ()) -> int:
    """Return 1 for drift and sites that no patch claims, 3 for gaps, and 0 otherwise."""
    kinds = {line.kind for line in lines(result, ids)}
    if kinds & {*_TROUBLE, "unlisted"}:
        return 1
    return 3 if "not scanned" in kinds or result.gaps else 0


def as_tables(result: ScanResult, ids: Collection[str] = ()) -> RenderableType:
    """Return the number of verdicts by library, and the problems in words below it."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    counts = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for library in dict.fromkeys(scan.library for scan in result.scans):
        scans = [scan for scan in result.scans if scan.library == library]
        counts.add_row(Text(library, style="bold"), _tally(scans, ids))
    remarks = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    remarks.add_column(no_wrap=True)
    remarks.add_column(overflow="fold")
    for line in lines(result, ids):
        text = Text(line.place, style="bold")
        text.append("".join(f"\n{part}" for part in (line.patch, line.text) if part), "not bold")
        remarks.add_row(Text(line.kind, style=_STYLES[line.kind]), text)
    for name, gap in result.gaps.items():
        remarks.add_row(Text("not scanned", style=_STYLES["not scanned"]), Text(f"{name}: {gap}"))
    return Group(counts, "", remarks) if remarks.row_count else counts


def _tally(scans: list[Scan], ids: Collection[str]) -> str:
    """Return the number of releases of a library, and of verdicts by state, as one line."""
    states = Counter(
        state for scan in scans for patch, state in scan.states.items() if not ids or patch in ids
    )
    verdicts = ", ".join(f"{states[state]} {state}" for state in STATES if states[state])
    return f"{len(scans)} release{'s' * (len(scans) != 1)}: {verdicts or 'none was scanned'}"

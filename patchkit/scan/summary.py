"""What a scan found, for people and for scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..matrix import STATES, Scan
from ..matrix.outcome_table import SCAN_TABLE
from ..matrix.records import OF_THE_RELEASE
from .run import Scanned

if TYPE_CHECKING:
    from rich.console import RenderableType

_TROUBLE = {state.name: state.style for state in SCAN_TABLE if state.style}
_STYLES = {
    **_TROUBLE,
    "unlisted": "bold yellow",
    "not scanned": "bold red",
    "note": "dim",
}


@dataclass(frozen=True)
class Line:
    """Something that is not as it should be.

    Args:
        kind: `drifted`, `present`, `unlisted`, `not scanned` or `note`.
        patch: id of the patch; empty where it is about a release as a whole.
        what: what was found.
        library: the distribution.
        versions: the releases in which it is so.
    """

    kind: str
    patch: str
    what: str
    library: str
    versions: tuple[str, ...]

    @property
    def where(self) -> str:
        first, last = self.versions[0], self.versions[-1]
        several = f" to {last}, {len(self.versions)} releases" if first != last else ""
        return f"{self.library} {first}{several}"


def lines(scanned: Scanned, ids: Collection[str] = ()) -> list[Line]:
    """All that is not well, the same in several releases said once.

    Args:
        scanned: what was found.
        ids: only these patches; all, if empty.
    """
    told: dict[tuple[str, str, str, str], list[str]] = {}
    for one in scanned.scans:
        for kind, patch, what in _said(one):
            if not ids or not patch or patch in ids:
                told.setdefault((kind, one.library, patch, what), []).append(one.version)
    found = [
        Line(kind, patch, what, library, tuple(versions))
        for (kind, library, patch, what), versions in told.items()
    ]
    order = list(_STYLES)
    return sorted(found, key=lambda line: (order.index(line.kind), line.library, line.patch))


def _said(scan: Scan) -> Iterator[tuple[str, str, str]]:
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


def exit_status(scanned: Scanned, ids: Collection[str] = ()) -> int:
    """1 for drift, sites out of range and sites unlisted; 3 for what was not scanned; else 0."""
    kinds = {line.kind for line in lines(scanned, ids)}
    if kinds & {*_TROUBLE, "unlisted"}:
        return 1
    return 3 if "not scanned" in kinds or scanned.gaps else 0


def as_tables(scanned: Scanned, ids: Collection[str] = ()) -> RenderableType:
    """The number of verdicts by library, and below it, in words, all that is not well."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    counts = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for library in dict.fromkeys(one.library for one in scanned.scans):
        its = [one for one in scanned.scans if one.library == library]
        counts.add_row(Text(library, style="bold"), _tally(its, ids))
    said = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    said.add_column(no_wrap=True)
    said.add_column(overflow="fold")
    for line in lines(scanned, ids):
        text = Text(line.where, style="bold")
        text.append("".join(f"\n{part}" for part in (line.patch, line.what) if part), "not bold")
        said.add_row(Text(line.kind, style=_STYLES[line.kind]), text)
    for name, gap in scanned.gaps.items():
        said.add_row(Text("not scanned", style=_STYLES["not scanned"]), Text(f"{name}: {gap}"))
    return Group(counts, "", said) if said.row_count else counts


def _tally(scans: list[Scan], ids: Collection[str]) -> str:
    """The releases of one library, and the verdicts by state, in one line."""
    states = Counter(
        state for one in scans for patch, state in one.states.items() if not ids or patch in ids
    )
    verdicts = ", ".join(f"{states[state]} {state}" for state in STATES if states[state])
    return f"{len(scans)} release{'s' * (len(scans) != 1)}: {verdicts or 'none was scanned'}"

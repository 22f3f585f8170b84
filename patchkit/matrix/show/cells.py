"""One cell, out of what was run and what was read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..outcome_table import OUTCOMES, SHOWS_NO_BUG, SHOWS_THE_BUG, STATES
from ..records import Result, Scan, public
from .grid import Cell
from .states import ATTENTION, FAILS, OF_OUTCOME, OF_SCAN, STOPPED, State, worst


def cell_of(patch: str, results: Sequence[Result], scan: Scan | None = None) -> Cell:
    """What a cell shows.

    Args:
        patch: the id.
        results: what was run of this patch in this column.
        scan: what was read in this column, of whichever patches.
    """
    said = [*_ran(results), *(_read(patch, scan) if scan else ())]
    noted = dict.fromkeys((state, note) for state, note in said)
    return Cell(
        worst(state for state, _ in noted),
        scan.states.get(patch, "") if scan else "",
        tuple(sorted({one.outcome for one in results})),
        tuple(note for _, note in noted),
        tuple(note for state, note in noted if state in (FAILS, ATTENTION, STOPPED)),
    )


def _ran(results: Sequence[Result]) -> Iterator[tuple[State, str]]:
    shown = [_releases(one) for one in results if one.outcome in SHOWS_THE_BUG]
    for one in results:
        if one.outcome in SHOWS_NO_BUG and _releases(one) in shown:
            continue  # It shows on another device: the bug is there, and need not be everywhere.
        note = f"{one.outcome}: {one.note or OUTCOMES[one.outcome]}"
        yield OF_OUTCOME[one.outcome], note


def _releases(one: Result) -> dict[str, str]:
    return {name: public(version) for name, version in one.environment.versions.items()}


def _read(patch: str, scan: Scan) -> Iterator[tuple[State, str]]:
    note = scan.notes.get(patch, "")
    if state := scan.states.get(patch):
        yield OF_SCAN[state], f"{state}: {note or STATES[state]}"
    said = re.split(r"[;,\s]+", note)
    if sites := ", ".join(one for one in scan.unlisted.get(patch, ()) if one not in said):
        yield ATTENTION, f"unlisted: the patch does not name {sites}, where its site is"

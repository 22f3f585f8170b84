"""Compute a cell from the runs and the scan of its column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..outcome_table import OUTCOMES, SHOWS_NO_BUG, SHOWS_THE_BUG, STATES
from ..records import Result, Scan, public_version
from .grid import Cell
from .states import ATTENTION, FAILS, OF_OUTCOME, OF_SCAN, STOPPED, CellState, worst


def cell_of(patch: str, results: Sequence[Result], scan: Scan | None = None) -> Cell:
    """Return the cell of a patch from its runs and the scan in this column."""
    notes = [*_run_notes(results), *(_scan_notes(patch, scan) if scan else ())]
    unique = dict.fromkeys(notes)
    return Cell(
        worst(state for state, _ in unique),
        scan.states.get(patch, "") if scan else "",
        tuple(sorted({result.outcome for result in results})),
        tuple(note for _, note in unique),
        tuple(note for state, note in unique if state in (FAILS, ATTENTION)),
        tuple(note for state, note in unique if state is STOPPED),
    )


def _run_notes(results: Sequence[Result]) -> Iterator[tuple[CellState, str]]:
    buggy = [_releases(result) for result in results if result.outcome in SHOWS_THE_BUG]
    for result in results:
        if result.outcome in SHOWS_NO_BUG and _releases(result) in buggy:
            continue  # Another device shows it: the bug is there, and need not show everywhere.
        note = f"{result.outcome}: {result.note or OUTCOMES[result.outcome]}"
        yield OF_OUTCOME[result.outcome], note


def _releases(result: Result) -> dict[str, str]:
    return {name: public_version(version) for name, version in result.environment.versions.items()}


def _scan_notes(patch: str, scan: Scan) -> Iterator[tuple[CellState, str]]:
    note = scan.notes.get(patch, "")
    if state := scan.states.get(patch):
        yield OF_SCAN[state], f"{state}: {note or STATES[state]}"
    words = re.split(r"[;,\s]+", note)
    if sites := ", ".join(place for place in scan.unlisted.get(patch, ()) if place not in words):
        yield ATTENTION, f"unlisted: the patch does not name {sites}, which has the same code"

"""Define the states of a cell, each made of outcomes and verdicts of scans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..outcome_table import CELLS, OUTCOME_TABLE, SCAN_TABLE


@dataclass(frozen=True)
class CellState:
    """One way a cell can look.

    Args:
        name: its name in JSON.
        kind: states of one kind mean the same for the bug, on different evidence.
        glyph: one character.
        ascii: one character, for a terminal without Unicode.
        style: its style for rich.
        colour: the colour of its cell in a picture.
        meaning: its meaning, for the legend.
        ink: the colour of the glyph in that cell; empty if it has none.
    """

    name: str
    kind: str
    glyph: str
    ascii: str
    style: str
    colour: str
    meaning: str
    ink: str = ""


# The plain colours stay apart for the colour-blind, and cells of all others have a glyph:
# tests/matrix measures that.
WORST_FIRST = tuple(CellState(**row) for row in CELLS)
(FAILS, ATTENTION, FIXED, MATCHES, STOPPED, ABSENT, CLEAR, NEEDS_MACHINE, NOT_DUE, NOT_MEASURED) = (
    WORST_FIRST
)

_BY_NAME = {state.name: state for state in WORST_FIRST}
OF_OUTCOME = {outcome.name: _BY_NAME[outcome.cell] for outcome in OUTCOME_TABLE}
OF_SCAN = {state.name: _BY_NAME[state.cell] for state in SCAN_TABLE}


def worst(states: Iterable[CellState]) -> CellState:
    """Return the worst of some states, which a cell with all of them shows."""
    return min(states, key=WORST_FIRST.index, default=NOT_MEASURED)

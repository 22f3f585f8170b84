"""Define the states of a cell, each made of outcomes and verdicts of scans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..outcome_table import OUTCOME_TABLE, SCAN_TABLE


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
FAILS = CellState("fails", "fails", "✗", "X", "bold red", "#a4161a", "not fixed", "#ffffff")
ATTENTION = CellState(
    "attention",
    "attention",
    "!",
    "!",
    "bold dark_orange",
    "#f29e1f",
    "drifted, unclaimed, not reproduced",
    "#000000",
)
FIXED = CellState("fixed", "bug", "●", "#", "green", "#006b5c", "fixed: run with and without it")
MATCHES = CellState(
    "matches", "bug", "○", "o", "bright_green", "#4fc3a1", "the patch fits: sources read"
)
STOPPED = CellState(
    "error", "", "∅", "e", "yellow", "#fff1c2", "run, and failed for another reason", "#6b5200"
)
ABSENT = CellState("absent", "no bug", "–", "-", "default", "#c6c6c6", "no bug: run", "#1f2328")  # noqa: RUF001
CLEAR = CellState(
    "read-absent", "no bug", "·", ".", "bright_black", "#e4e4e4", "no bug: sources read"
)
NEEDS_MACHINE = CellState(
    "needs", "bug", "N", "N", "blue", "#8fb4ee", "needs another machine", "#000000"
)
NOT_DUE = CellState(
    "not-due",
    "no bug",
    "~",
    "~",
    "bright_black",
    "#f4f4f4",
    "not claimed, neither run nor read",
    "#6e7781",
)
NOT_MEASURED = CellState(
    "not-measured", "", "?", "?", "bright_black", "#ffffff", "not measured", "#6e7781"
)

WORST_FIRST = (
    FAILS,
    ATTENTION,
    FIXED,
    MATCHES,
    STOPPED,
    ABSENT,
    CLEAR,
    NEEDS_MACHINE,
    NOT_DUE,
    NOT_MEASURED,
)

_BY_NAME = {state.name: state for state in WORST_FIRST}
OF_OUTCOME = {outcome.name: _BY_NAME[outcome.cell] for outcome in OUTCOME_TABLE}
OF_SCAN = {state.name: _BY_NAME[state.cell] for state in SCAN_TABLE}


def worst(states: Iterable[CellState]) -> CellState:
    """Return the worst of some states, which a cell with all of them shows."""
    return min(states, key=WORST_FIRST.index, default=NOT_MEASURED)

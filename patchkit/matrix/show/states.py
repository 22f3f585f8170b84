"""Define the states of a cell, each made of outcomes and verdicts of scans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..outcome_table import OUTCOME_TABLE, SCAN_TABLE


@dataclass(frozen=True, kw_only=True)
class CellState:
    """One way a cell can look.

    Args:
        name: its name in JSON.
        kind: states of one kind mean the same for the bug, on different evidence.
        glyph: one character.
        ascii: one character, for a terminal without Unicode.
        style: its style for rich.
        colour: the colour of its cell in a picture.
        ink: the colour of the glyph in that cell; empty if it has none.
        meaning: its meaning, for the legend.
    """

    name: str
    kind: str
    glyph: str
    ascii: str
    style: str
    colour: str
    ink: str = ""
    meaning: str


# The plain colours stay apart for the colour-blind, and cells of all others have a glyph:
# tests/matrix measures that.
FAILS = CellState(
    name="fails",
    kind="fails",
    glyph="✗",
    ascii="X",
    style="bold red",
    colour="#a4161a",
    ink="#ffffff",
    meaning="not fixed",
)
ATTENTION = CellState(
    name="attention",
    kind="attention",
    glyph="!",
    ascii="!",
    style="bold dark_orange",
    colour="#f29e1f",
    ink="#000000",
    meaning="drifted, unclaimed, not reproduced",
)
FIXED = CellState(
    name="fixed",
    kind="bug",
    glyph="●",
    ascii="#",
    style="green",
    colour="#006b5c",
    meaning="fixed: run with and without it",
)
MATCHES = CellState(
    name="matches",
    kind="bug",
    glyph="○",
    ascii="o",
    style="bright_green",
    colour="#4fc3a1",
    meaning="the patch fits: sources read",
)
STOPPED = CellState(
    name="error",
    kind="",
    glyph="∅",
    ascii="e",
    style="yellow",
    colour="#fff1c2",
    ink="#6b5200",
    meaning="run, and failed for another reason",
)
ABSENT = CellState(
    name="absent",
    kind="no bug",
    glyph="–",  # noqa: RUF001
    ascii="-",
    style="default",
    colour="#c6c6c6",
    ink="#1f2328",
    meaning="no bug: run",
)
CLEAR = CellState(
    name="read-absent",
    kind="no bug",
    glyph="·",
    ascii=".",
    style="bright_black",
    colour="#e4e4e4",
    meaning="no bug: sources read",
)
NEEDS_MACHINE = CellState(
    name="needs",
    kind="bug",
    glyph="N",
    ascii="N",
    style="blue",
    colour="#8fb4ee",
    ink="#000000",
    meaning="needs another machine",
)
NOT_DUE = CellState(
    name="not-due",
    kind="no bug",
    glyph="~",
    ascii="~",
    style="bright_black",
    colour="#f4f4f4",
    ink="#6e7781",
    meaning="not claimed, neither run nor read",
)
NOT_MEASURED = CellState(
    name="not-measured",
    kind="",
    glyph="?",
    ascii="?",
    style="bright_black",
    colour="#ffffff",
    ink="#6e7781",
    meaning="not measured",
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

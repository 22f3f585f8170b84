"""What modernize found in a script, and what it did about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class ScriptOutcome(str, Enum):
    """What modernize did about an old spelling."""

    CHANGED = "changed"
    """It was rewritten."""
    REMARKED = "remarked"
    """A person must decide; a remark stands there."""
    GONE = "gone"
    """It has no counterpart, and the script cannot run."""
    SILENT = "silent"
    """It runs as it is, and gives other results than it did."""


class InScript:
    """Something that stands in a line of a script, or of a cell of its notebook."""

    line: int
    cell: int

    @property
    def place(self) -> str:
        """Its place in the script: `line 3`, `cell 2, line 3`."""
        return f"cell {self.cell}, line {self.line}" if self.cell else f"line {self.line}"


@dataclass(frozen=True)
class ScriptFinding(InScript):
    """One place of a script that a change of the libraries concerns.

    Args:
        line: where it is in the text as it was given, from 1.
        old: the old spelling, as short as possible: `tokenizer=`.
        new: what to write for it; empty if there is nothing.
        because: a sentence: since when that is so, and what has to be decided.
        outcome: what was done about it.
        cell: the cell of a notebook, from 1; 0 elsewhere. Lines are counted within the cell.
    """

    line: int
    old: str
    new: str
    because: str
    outcome: ScriptOutcome
    cell: int = 0


@dataclass(frozen=True)
class Modernized:
    """A text after rewriting.

    Args:
        text: what it is now; the same text if nothing was changed.
        findings: in the order in which they stand in the text.
    """

    text: str
    findings: Sequence[ScriptFinding]

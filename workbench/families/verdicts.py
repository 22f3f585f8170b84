"""Judge a cell by what came of it without patchkit and with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .differences import explanation
from .journal import Journal
from .records import STEPS, Cell, Trial


@dataclass(frozen=True)
class Outcome:
    """One way in which the two sides of a cell can compare.

    Args:
        name: in JSON.
        glyph: in tables.
        style: for rich.
        meaning: in words.
        trouble: whether it is a defect of patchkit.
    """

    name: str
    glyph: str
    style: str
    meaning: str
    trouble: bool = False


# Worst first.
OUTCOMES = {
    outcome.name: outcome
    for outcome in (
        Outcome("broken", "!", "bold red", "works without patchkit and fails with it", True),
        Outcome("differs", "?", "bold red", "works both ways, with other numbers", True),
        Outcome("limited", "-", "yellow", "needs more memory or time than it was given"),
        Outcome("untried", "0", "dim", "not tried: no library or no checkpoint for that"),
        Outcome("fails", "x", "yellow", "fails both ways"),
        Outcome("fixed", "+", "green", "fails without patchkit and works with it"),
        Outcome("explained", "~", "cyan", "works both ways, with other numbers, and known why"),
        Outcome("same", "=", "dim", "works both ways, with the same numbers to the last digit"),
    )
}


@dataclass(frozen=True)
class Verdict:
    """The verdict on one cell.

    Args:
        cell: what was tried.
        outcome: how both sides compare.
        without: what came of it without patchkit.
        with_patchkit: what came of it with it.
        note: what differs, or why; empty if nothing is to be said.
    """

    cell: Cell
    outcome: Outcome
    without: Trial
    with_patchkit: Trial
    note: str = ""


def verdicts(journal: Journal) -> Iterator[Verdict]:
    """Yield the verdict on each cell that was tried on both sides."""
    versions = journal.environment.get("versions", {})
    for cell in journal.cells():
        yield judge(cell, journal.trials[cell, False], journal.trials[cell, True], versions)


def judge(
    cell: Cell, without: Trial, with_patchkit: Trial, versions: Mapping[str, str | None]
) -> Verdict:
    """Compare the two sides of a cell, which were tried with these versions of the libraries."""
    outcome, note = compare(
        without,
        with_patchkit,
        steps=STEPS,
        explain=lambda other: explanation(cell, other, versions),
    )
    return Verdict(cell, outcome, without, with_patchkit, note)


def compare(
    without: Trial,
    with_patchkit: Trial,
    *,
    steps: Sequence[str],
    explain: Callable[[Collection[str]], str],
) -> tuple[Outcome, str]:
    """Compare what came of a cell without patchkit and with it.

    Args:
        without: what came of it without.
        with_patchkit: what came of it with.
        steps: what is done, in order.
        explain: returns why some figures differ; empty if that is not known.

    Returns:
        the outcome, and what is to be said of it.
    """
    name, note = _comparison(without, with_patchkit, steps, explain)
    return OUTCOMES[name], note


def _comparison(
    without: Trial,
    with_patchkit: Trial,
    steps: Sequence[str],
    explain: Callable[[Collection[str]], str],
) -> tuple[str, str]:
    if without.untried and with_patchkit.untried:
        return "untried", without.error.removeprefix("Untried: ")
    if without.limited or with_patchkit.limited:
        return "limited", ""
    if not without.worked:
        if with_patchkit.worked:
            return "fixed", ""
        if _reached(with_patchkit, steps) < _reached(without, steps):
            return "broken", "fails earlier with patchkit"
        return "fails", ""
    if not with_patchkit.worked:
        return "broken", ""
    # As text, since a number that is none equals nothing.
    other = [
        name
        for name, value in without.figures.items()
        if json.dumps(with_patchkit.figures.get(name)) != json.dumps(value)
    ]
    if not other:
        return "same", ""
    reason = explain(other)
    return ("explained", reason) if reason else ("differs", f"other {', '.join(other)}")


def _reached(trial: Trial, steps: Sequence[str]) -> int:
    return steps.index(trial.step) if trial.step in steps else -1

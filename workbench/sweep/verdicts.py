"""Judge a cell by its trials without patchkit and with it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .trial import Trial

C = TypeVar("C")


@dataclass(frozen=True)
class CellOutcome:
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
        CellOutcome("broken", "!", "bold red", "works without patchkit and fails with it", True),
        CellOutcome("differs", "?", "bold red", "works both ways, with other numbers", True),
        CellOutcome("limited", "-", "yellow", "needs more memory or time than it was given"),
        CellOutcome("untried", "0", "dim", "not tried: no library or no checkpoint for that"),
        CellOutcome("fails", "x", "yellow", "fails both ways"),
        CellOutcome("fixed", "+", "green", "fails without patchkit and works with it"),
        CellOutcome("explained", "~", "cyan", "works both ways, with other numbers, and known why"),
        CellOutcome("same", "=", "dim", "works both ways, with the same numbers to the last digit"),
    )
}


@dataclass(frozen=True)
class CellVerdict(Generic[C]):
    """The verdict on one cell.

    Args:
        cell: what was tried.
        outcome: how both sides compare.
        without: its trial without patchkit.
        with_patchkit: its trial with patchkit.
        note: what differs, or why; empty if nothing is to be said.
    """

    cell: C
    outcome: CellOutcome
    without: Trial
    with_patchkit: Trial
    note: str = ""

    def text(self) -> str:
        """Say what happened, if anything is to be said."""
        if self.outcome.name == "untried":
            return self.note
        sides = [str(self.without), str(self.with_patchkit)]
        if sides[0] == sides[1]:
            return self.note if self.without.worked else sides[0]
        return sides[0] if self.with_patchkit.worked else f"{sides[0]}; with patchkit {sides[1]}"


@dataclass(frozen=True)
class Group(Generic[C]):
    """Cells that have the same to say.

    Args:
        text: what they say.
        reason: why, if that is known; empty if the text says it.
        cells: the cells.
    """

    text: str
    reason: str
    cells: list[C]


@dataclass(frozen=True)
class Judged(Generic[C]):
    """The verdicts on a selection of cells.

    Args:
        environment: versions, Python, platform and date.
        verdicts: those on all cells that were tried.
    """

    environment: dict[str, Any]
    verdicts: tuple[CellVerdict[C], ...]

    @property
    def exit_status(self) -> int:
        """1 if anything is worse or different with patchkit without a known reason."""
        return int(any(verdict.outcome.trouble for verdict in self.verdicts))

    def counts(self) -> list[tuple[CellOutcome, int]]:
        """Return how many cells have each outcome, worst first."""
        numbers = Counter(verdict.outcome.name for verdict in self.verdicts)
        return [(outcome, numbers[name]) for name, outcome in OUTCOMES.items() if numbers[name]]

    def with_outcome(self, name: str) -> list[CellVerdict[C]]:
        return [verdict for verdict in self.verdicts if verdict.outcome.name == name]


def grouped(
    verdicts: Iterable[CellVerdict[C]],
    reason: Callable[[CellVerdict[C]], str],
    size: Callable[[Group[C]], int],
) -> list[Group[C]]:
    """Return cells by what happened in them and why, the most frequent first.

    Args:
        verdicts: the verdicts on them.
        reason: returns why; empty if that is not known.
        size: returns how frequent a group is.
    """
    found: dict[tuple[str, str], Group[C]] = {}
    for verdict in verdicts:
        text, why = verdict.text(), reason(verdict)
        why = "" if why == text else why
        found.setdefault((text, why), Group(text, why, [])).cells.append(verdict.cell)
    return sorted(found.values(), key=lambda group: -size(group))


def judge_trials(
    cell: C,
    without: Trial,
    with_patchkit: Trial,
    *,
    steps: Sequence[str],
    explain: Callable[[Collection[str]], str],
) -> CellVerdict[C]:
    """Compare the trials of a cell without patchkit and with it.

    Args:
        cell: what was tried.
        without: the trial without patchkit.
        with_patchkit: the trial with it.
        steps: what is done, in order.
        explain: returns why some figures differ; empty if that is not known.
    """
    name, note = _comparison(without, with_patchkit, steps, explain)
    return CellVerdict(cell, OUTCOMES[name], without, with_patchkit, note)


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
    other = different_figures(without, with_patchkit)
    if not other:
        return "same", ""
    reason = explain(other)
    return ("explained", reason) if reason else ("differs", f"other {', '.join(other)}")


def different_figures(without: Trial, with_patchkit: Trial) -> list[str]:
    """Return the names of the figures that are others with patchkit."""
    return [
        name
        for name, value in without.figures.items()
        # As text, since NaN does not equal itself.
        if json.dumps(with_patchkit.figures.get(name)) != json.dumps(value)
    ]


def _reached(trial: Trial, steps: Sequence[str]) -> int:
    return steps.index(trial.step) if trial.step in steps else -1

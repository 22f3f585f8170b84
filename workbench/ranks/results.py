"""Judge what came of cells, and arrange it for readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ..families.records import Trial
from ..families.verdicts import OUTCOMES, Outcome, compare
from .known import explanation, reason
from .records import SCHEMA, STEPS, Cell, Journal
from .sweep import Selection


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

    def text(self) -> str:
        """Say what happened, if anything is to be said."""
        sides = [_side(trial) for trial in (self.without, self.with_patchkit)]
        if sides[0] == sides[1]:
            return self.note if self.without.worked else sides[0]
        return sides[0] if self.with_patchkit.worked else f"{sides[0]}; with patchkit {sides[1]}"


@dataclass(frozen=True)
class Results:
    """What came of a selection.

    Args:
        environment: versions, Python, platform and date.
        verdicts: those on all cells that were tried.
    """

    environment: dict[str, Any]
    verdicts: tuple[Verdict, ...]

    @property
    def exit_status(self) -> int:
        """1 if anything is worse or other with patchkit, and nobody has said why."""
        return int(any(verdict.outcome.trouble for verdict in self.verdicts))

    def columns(self) -> list[tuple[str, str]]:
        """Return the modes with methods that were tried, in order."""
        return list(dict.fromkeys((one.cell.mode, one.cell.method) for one in self.verdicts))

    def rows(self) -> Iterator[tuple[str, str, list[Verdict | None]]]:
        """Yield each strategy and trainer, with a verdict for each column."""
        found = {verdict.cell: verdict for verdict in self.verdicts}
        names = dict.fromkeys((one.cell.strategy, one.cell.trainer) for one in self.verdicts)
        for strategy, trainer in names:
            cells = (Cell(strategy, trainer, *column) for column in self.columns())
            yield strategy, trainer, [found.get(cell) for cell in cells]

    def counts(self) -> list[tuple[Outcome, int]]:
        """Return how many cells have each outcome, worst first."""
        numbers = Counter(verdict.outcome.name for verdict in self.verdicts)
        return [(outcome, numbers[name]) for name, outcome in OUTCOMES.items() if numbers[name]]

    def stories(self, outcome: Outcome) -> dict[str, list[Verdict]]:
        """Return the verdicts of an outcome by what happened, the most frequent first."""
        found: dict[str, list[Verdict]] = {}
        for verdict in self.verdicts:
            if verdict.outcome is outcome:
                found.setdefault(verdict.text(), []).append(verdict)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "environment": self.environment,
            "cells": [
                {
                    **asdict(verdict.cell),
                    "outcome": verdict.outcome.name,
                    "note": verdict.note or reason(verdict.with_patchkit),
                    "without": asdict(verdict.without),
                    "with_patchkit": asdict(verdict.with_patchkit),
                }
                for verdict in self.verdicts
            ],
        }


def results(journal: Journal, selection: Selection) -> Results:
    """Judge what a journal has of a selection."""
    tried = set(journal.cells())
    cells = [cell for cell in selection.cells() if cell in tried]
    return Results(journal.environment, tuple(_judge(journal, cell) for cell in cells))


def _judge(journal: Journal, cell: Cell) -> Verdict:
    without, with_patchkit = (journal.trials[cell, patched] for patched in (False, True))
    outcome, note = compare(
        without,
        with_patchkit,
        steps=STEPS,
        explain=lambda other: explanation(cell, without, with_patchkit),
    )
    return Verdict(cell, outcome, without, with_patchkit, note)


def _side(trial: Trial) -> str:
    return f"{trial.step}: {trial.error}" if trial.step else "worked"

"""Judge what came of cells, and arrange it for readers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ..sweep.verdicts import Group, Judged, Verdict, compare, grouped
from .known import explanation, reason
from .records import SCHEMA, STEPS, Cell, Journal
from .sweep import Selection


@dataclass(frozen=True)
class Results(Judged[Cell]):
    """What came of a selection of strategies."""

    def columns(self) -> list[tuple[str, str]]:
        """Return the modes with methods that were tried, in order."""
        return list(dict.fromkeys((one.cell.mode, one.cell.method) for one in self.verdicts))

    def rows(self) -> Iterator[tuple[str, str, list[Verdict[Cell] | None]]]:
        """Yield each strategy and trainer, with a verdict for each column."""
        found = {verdict.cell: verdict for verdict in self.verdicts}
        names = dict.fromkeys((one.cell.strategy, one.cell.trainer) for one in self.verdicts)
        for strategy, trainer in names:
            cells = (Cell(strategy, trainer, *column) for column in self.columns())
            yield strategy, trainer, [found.get(cell) for cell in cells]

    def groups(self, outcome: str) -> list[Group[Cell]]:
        """Return the cells of an outcome by what happened, the most frequent first."""
        return grouped(
            self.with_outcome(outcome),
            lambda verdict: reason(verdict.with_patchkit),
            lambda group: len(group.cells),
        )

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


def _judge(journal: Journal, cell: Cell) -> Verdict[Cell]:
    without, with_patchkit = (journal.trials[cell, patched] for patched in (False, True))
    outcome, note = compare(
        without,
        with_patchkit,
        steps=STEPS,
        explain=lambda other: explanation(cell, without, with_patchkit),
    )
    return Verdict(cell, outcome, without, with_patchkit, note)

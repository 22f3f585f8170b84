"""Judge the trials of cells, and arrange them for readers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ..sweep.verdicts import CellVerdict, Group, Judged, compare, grouped
from .known import explanation, reason
from .records import SCHEMA, STEPS, RankCell, RankJournal
from .sweep import RankSelection


@dataclass(frozen=True)
class RankResults(Judged[RankCell]):
    """The results of a selection of strategies."""

    def columns(self) -> list[tuple[str, str]]:
        """Return the modes with methods that were tried, in order."""
        return list(
            dict.fromkeys((verdict.cell.mode, verdict.cell.method) for verdict in self.verdicts)
        )

    def rows(self) -> Iterator[tuple[str, str, list[CellVerdict[RankCell] | None]]]:
        """Yield each strategy and trainer, with a verdict for each column."""
        found = {verdict.cell: verdict for verdict in self.verdicts}
        names = dict.fromkeys(
            (verdict.cell.strategy, verdict.cell.trainer) for verdict in self.verdicts
        )
        for strategy, trainer in names:
            cells = (RankCell(strategy, trainer, *column) for column in self.columns())
            yield strategy, trainer, [found.get(cell) for cell in cells]

    def groups(self, outcome: str) -> list[Group[RankCell]]:
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


def results(journal: RankJournal, selection: RankSelection) -> RankResults:
    """Judge what a journal has of a selection."""
    tried = set(journal.cells())
    cells = [cell for cell in selection.cells() if cell in tried]
    return RankResults(journal.environment, tuple(_judge(journal, cell) for cell in cells))


def _judge(journal: RankJournal, cell: RankCell) -> CellVerdict[RankCell]:
    without, with_patchkit = (journal.trials[cell, patched] for patched in (False, True))
    outcome, note = compare(
        without,
        with_patchkit,
        steps=STEPS,
        explain=lambda other: explanation(cell, without, with_patchkit),
    )
    return CellVerdict(cell, outcome, without, with_patchkit, note)

"""Judge the trials of cells, and arrange them for readers."""

from __future__ import annotations

from dataclasses import dataclass

from ..sweep.grid import GridResults
from ..sweep.verdicts import CellVerdict, judge_trials
from .known import explanation, reason
from .records import SCHEMA, STEPS, RankCell, RankJournal
from .sweep import RankSelection


@dataclass(frozen=True)
class RankResults(GridResults[RankCell]):
    """The results of a selection of strategies."""

    schema = SCHEMA
    cell = RankCell
    row_fields = ("strategy", "trainer")
    column_fields = ("mode", "method")

    def why(self, verdict: CellVerdict[RankCell]) -> str:
        return reason(verdict.with_patchkit)


def results(journal: RankJournal, selection: RankSelection) -> RankResults:
    """Judge what a journal has of a selection."""
    tried = set(journal.cells())
    cells = [cell for cell in selection.cells() if cell in tried]
    return RankResults(journal.environment, tuple(_judge(journal, cell) for cell in cells))


def _judge(journal: RankJournal, cell: RankCell) -> CellVerdict[RankCell]:
    without, with_patchkit = (journal.trials[cell, patched] for patched in (False, True))
    return judge_trials(
        cell,
        without,
        with_patchkit,
        steps=STEPS,
        explain=lambda other: explanation(cell, without, with_patchkit),
    )

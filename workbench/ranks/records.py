"""What was tried with two ranks, as data that a line of JSON holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import journal
from ..families.records import Trial

SCHEMA = "ranks 1"
#: What the ranks do, in this order; the last in a process by itself, without patchkit.
STEPS = ("build", "prepare", "forward", "backward", "step", "predict", "save", "reload")


@dataclass(frozen=True)
class Cell:
    """What is tried at once.

    Args:
        strategy: the name of a strategy.
        trainer: the short name of a trainer, such as `sft`.
        mode: the name of a mode.
        method: `lora` or `full`.
    """

    strategy: str
    trainer: str
    mode: str
    method: str


class Journal(journal.Journal):
    """The results of cells; see `workbench.journal`.

    Args:
        path: the file; None keeps them in memory only.

    Raises:
        UsageError: the file holds something else.
    """

    def __init__(self, path: Path | None) -> None:
        self.trials: dict[tuple[Cell, bool], Trial] = {}
        super().__init__(path, SCHEMA)

    def add(self, cell: Cell, patched: bool, trial: Trial) -> None:
        self._add({"cell": asdict(cell), "patchkit": patched, "trial": asdict(trial)})

    def cells(self) -> Iterator[Cell]:
        """Yield the cells that were tried on both sides."""
        for cell, patched in self.trials:
            if not patched and (cell, True) in self.trials:
                yield cell

    def _take_in_result(self, record: dict[str, Any]) -> None:
        self.trials[Cell(**record["cell"]), record["patchkit"]] = Trial(**record["trial"])

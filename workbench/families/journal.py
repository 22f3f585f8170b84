"""Keep what came of model types in a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from patchkit.errors import UsageError

from .. import journal
from .records import Build, Cell, Subject, Trial

SCHEMA = 1


class Journal(journal.Journal):
    """The results of a sweep of model types; see `workbench.journal`.

    Args:
        path: the file; None keeps them in memory only.

    Raises:
        UsageError: the file holds something else.
    """

    def __init__(self, path: Path | None) -> None:
        self.builds: dict[Subject, Build] = {}
        self.trials: dict[tuple[Cell, bool], Trial] = {}
        super().__init__(path, SCHEMA)

    def join(self, other: Journal) -> None:
        """Take in what another journal has, in memory only.

        Raises:
            UsageError: its results come from other versions.
        """
        for name, value in other.environment.items():
            if name != "date" and self.environment.get(name, value) != value:
                raise UsageError(f"{other.path} has results of other versions ({name})")
        self.environment = {**self.environment, **other.environment}
        self.builds |= other.builds
        self.trials |= other.trials

    def add_build(self, build: Build) -> None:
        self._add({"build": asdict(build)})

    def add_trial(self, cell: Cell, patched: bool, trial: Trial) -> None:
        self._add({"cell": asdict(cell), "patchkit": patched, "trial": asdict(trial)})

    def has(self, cell: Cell) -> bool:
        """Tell whether a cell was tried on both sides."""
        return (cell, False) in self.trials and (cell, True) in self.trials

    def cells(self) -> Iterator[Cell]:
        """Yield the cells that were tried on both sides."""
        for cell, patched in self.trials:
            if not patched and self.has(cell):
                yield cell

    def _take_in_result(self, record: dict[str, Any]) -> None:
        if "build" in record:
            content = record["build"]
            build = Build(**{**content, "subject": Subject(**content["subject"])})
            self.builds[build.subject] = build
        else:
            content = record["cell"]
            cell = Cell(Subject(**content["subject"]), content["mode"], content["method"])
            self.trials[cell, record["patchkit"]] = Trial(**record["trial"])

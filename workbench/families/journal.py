"""Keep the results of model types in a file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from patchkit.errors import UsageError

from ..sweep import journal
from .records import Build, FamilyCell, ModelSubject

SCHEMA = 1


class FamilyJournal(journal.SweepJournal[FamilyCell]):
    """The results of a sweep of model types."""

    schema = SCHEMA

    def __init__(self, path: Path | None) -> None:
        self.builds: dict[ModelSubject, Build] = {}
        super().__init__(path)

    def join(self, other: FamilyJournal) -> None:
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

    def _take_in_result(self, record: dict[str, Any]) -> None:
        if "build" in record:
            content = record["build"]
            build = Build(**{**content, "subject": ModelSubject(**content["subject"])})
            self.builds[build.subject] = build
        else:
            super()._take_in_result(record)

    @staticmethod
    def cell(subject: dict[str, str], mode: str, method: str) -> FamilyCell:
        return FamilyCell(ModelSubject(**subject), mode, method)

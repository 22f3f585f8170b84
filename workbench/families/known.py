"""What is known about failures, so that a table can say why."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from patchkit.legacy.rows import toml

from ..sweep.trial import Trial
from ..sweep.verdicts import CellVerdict
from .records import Build, FamilyCell

CAUSES = {
    "dtype": "a dtype",
    "packed": "packed weights",
    "refused": "PEFT refuses",
    "model": "the model",
    "bug": "a bug that is not of precision",
    "ours": "the sweep",
}
"""What a failure comes from, in words: each cell that fails both ways has one of these."""
_FILE = Path(__file__).with_name("causes.toml")
_ALL = ("*",)


@dataclass(frozen=True)
class Reason:
    """Why some cells fail with patchkit and without, or why there is no tiny model.

    Args:
        error: a part of the error, after the name of the step.
        why: why, and whose matter it is.
        cause: a key of `CAUSES`; empty for what is not built.
        place: the file of a library that is to change; empty if it is not known.
        told: the finding by which preflight tells it before the first step; empty if it does not.
        answer: the row by which `patchkit explain` answers it; empty if preflight tells it.
        seen: what a user sees of it, where the error is the sweep's own or cut short.
        modes: globs of modes.
        types: globs of model types.
        methods: globs of methods.
        tasks: globs of tasks.
    """

    error: str
    why: str
    cause: str = ""
    place: str = ""
    told: str = ""
    answer: str = ""
    seen: str = ""
    modes: tuple[str, ...] = _ALL
    types: tuple[str, ...] = _ALL
    methods: tuple[str, ...] = _ALL
    tasks: tuple[str, ...] = _ALL

    def __str__(self) -> str:
        place = f" (`{self.place}`)" if self.place else ""
        told = f"; preflight tells: `{self.told}`" if self.told else ""
        answer = f"; `patchkit explain` answers: `{self.answer}`" if self.answer else ""
        return f"{CAUSES[self.cause]}: {self.why}{place}{told}{answer}"

    def fits(self, cell: FamilyCell, error: str) -> bool:
        """Tell whether it is the reason for an error of a cell."""
        parts = (
            (cell.mode, self.modes),
            (cell.subject.type, self.types),
            (cell.method, self.methods),
            (cell.subject.task, self.tasks),
        )
        return self.error in error and all(_is_any(name, globs) for name, globs in parts)


@functools.cache
def reasons(table: str) -> tuple[Reason, ...]:
    """Return the reasons in a table of the file: `fails` or `unbuilt`."""
    rows = toml.read(_FILE.read_text(encoding="utf-8"), _FILE.name)[table]
    return tuple(map(_reason, rows))


def _reason(row: toml.Table) -> Reason:
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in row.items()
    }
    return Reason(**fields)


def find_reason(cell: FamilyCell, trial: Trial) -> Reason | None:
    """Return why a trial of a cell fails; None if that is not known."""
    error = f"{trial.step}: {trial.error}"
    return next((known for known in reasons("fails") if known.fits(cell, error)), None)


def reason(cell: FamilyCell, trial: Trial) -> str:
    """Say why a trial of a cell fails; nothing if that is not known."""
    return str(find_reason(cell, trial) or "")


def reason_unbuilt(build: Build) -> str:
    """Return why there is no tiny model of a type; empty if that is not known."""
    return next(
        (
            known.why
            for known in reasons("unbuilt")
            if known.error in build.error
            and _is_any(build.subject.type, known.types)
            and _is_any(build.subject.task, known.tasks)
        ),
        "",
    )


def count_causes(failing: Iterable[CellVerdict[FamilyCell]]) -> Counter[str]:
    """Count failing cells by cause; those without one are counted for the empty name."""
    return Counter(known.cause if known else "" for known in _reasons_of(failing))


def count_told(failing: Iterable[CellVerdict[FamilyCell]]) -> Counter[str]:
    """Count those of failing cells that preflight tells before the first step, by cause."""
    return Counter(known.cause for known in _reasons_of(failing) if known and known.told)


def count_answered(failing: Iterable[CellVerdict[FamilyCell]]) -> Counter[str]:
    """Count those of failing cells whose error `patchkit explain` answers, by cause."""
    return Counter(known.cause for known in _reasons_of(failing) if known and known.answer)


def _reasons_of(failing: Iterable[CellVerdict[FamilyCell]]) -> Iterator[Reason | None]:
    for verdict in failing:
        yield find_reason(verdict.cell, verdict.with_patchkit)


def _is_any(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)

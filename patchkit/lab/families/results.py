"""The results of a sweep, arranged for readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .journal import SCHEMA, Journal
from .known import reason
from .records import Build, Cell, Subject
from .sweep import Selection
from .verdicts import OUTCOMES, Outcome, Verdict, verdicts

_MOST_COLUMNS = 12


@dataclass(frozen=True)
class Row:
    """A row of a table: one model type, or one method on it.

    Args:
        subject: the model type.
        method: the method, if each has a row of its own; else empty.
        cells: a verdict for each column; None where nothing was tried.
    """

    subject: Subject
    method: str
    cells: tuple[Verdict | None, ...]

    @property
    def name(self) -> str:
        return f"{self.subject.type} {self.method}".rstrip()


@dataclass(frozen=True)
class Results:
    """What came of a selection.

    Args:
        environment: versions, Python, platform and date.
        verdicts: those on all cells that were tried.
        unbuilt: the model types of which no tiny model could be built.
        columns: modes with methods, in order.
    """

    environment: dict[str, Any]
    verdicts: tuple[Verdict, ...]
    unbuilt: tuple[Build, ...]
    columns: tuple[tuple[str, str], ...]

    @property
    def exit_status(self) -> int:
        """1 if anything is worse or other with patchkit, and nobody has said why."""
        return int(any(verdict.outcome.trouble for verdict in self.verdicts))

    @property
    def heads(self) -> list[tuple[str, ...]]:
        """The head of each column, in lines: precision, quantization and perhaps method."""
        columns = self._columns
        if self._rows_by_method:
            return [tuple(mode.split("/")) for mode in dict.fromkeys(mode for mode, _ in columns)]
        return [(*mode.split("/"), method) for mode, method in columns]

    def rows(self, task: str | None = None) -> list[Row]:
        """Return the rows of a table, of all tasks or one."""
        found = {verdict.cell: verdict for verdict in self.verdicts}
        subjects = {cell.subject for cell in found if task in (None, cell.subject.task)}
        columns = self._columns
        modes = tuple(dict.fromkeys(mode for mode, _ in columns))
        parts = {"": columns}
        if self._rows_by_method:
            methods = dict.fromkeys(method for _, method in columns)
            parts = {method: tuple((mode, method) for mode in modes) for method in methods}
        return [
            Row(subject, name, tuple(found.get(Cell(subject, *column)) for column in part))
            for subject in sorted(subjects, key=lambda subject: (subject.task, subject.type))
            for name, part in parts.items()
        ]

    @property
    def _columns(self) -> tuple[tuple[str, str], ...]:
        """The modes and methods that were tried, in order."""
        tried = {(verdict.cell.mode, verdict.cell.method) for verdict in self.verdicts}
        return tuple(column for column in self.columns if column in tried)

    @property
    def _rows_by_method(self) -> bool:
        return len(self._columns) > _MOST_COLUMNS

    def counts(self) -> list[tuple[Outcome, int]]:
        """Return how many cells have each outcome, worst first."""
        numbers = Counter(verdict.outcome.name for verdict in self.verdicts)
        return [(outcome, numbers[name]) for name, outcome in OUTCOMES.items() if numbers[name]]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "environment": self.environment,
            "cells": [
                {
                    **vars(verdict.cell.subject),
                    "mode": verdict.cell.mode,
                    "method": verdict.cell.method,
                    "outcome": verdict.outcome.name,
                    "note": verdict.note or reason(verdict.with_patchkit),
                    "without": vars(verdict.without),
                    "with_patchkit": vars(verdict.with_patchkit),
                }
                for verdict in self.verdicts
            ],
            "unbuilt": [{**vars(build.subject), "error": build.error} for build in self.unbuilt],
        }


@dataclass(frozen=True)
class Group:
    """Cells that have the same to say.

    Args:
        text: what they say.
        reason: why, if that is known.
        cells: the cells.
    """

    text: str
    reason: str
    cells: list[Cell]

    def places(self) -> dict[str, list[Cell]]:
        """Return the cells by model type."""
        places: dict[str, list[Cell]] = {}
        for cell in self.cells:
            places.setdefault(cell.subject.type, []).append(cell)
        return places


def results(journal: Journal, selection: Selection) -> Results:
    """Arrange what a journal has of a selection."""
    chosen = [verdict for verdict in verdicts(journal) if selection.includes(verdict.cell)]
    columns = tuple((mode.name, method) for mode in selection.modes for method in selection.methods)
    unbuilt = [
        build
        for build in journal.builds.values()
        if build.error and selection.includes_subject(build.subject)
    ]
    unbuilt.sort(key=lambda build: (build.subject.task, build.subject.type))
    return Results(journal.environment, tuple(chosen), tuple(unbuilt), columns)


def groups(chosen: Iterable[Verdict]) -> list[Group]:
    """Return cells by what happened in them, the most frequent first."""
    found: dict[str, Group] = {}
    for verdict in chosen:
        text = _text(verdict)
        known = verdict.note or reason(verdict.with_patchkit)
        found.setdefault(text, Group(text, known, [])).cells.append(verdict.cell)
    return sorted(found.values(), key=lambda group: -len(group.places()))


def _text(verdict: Verdict) -> str:
    """Say what happened in a cell."""
    sides = [
        f"{trial.step}: {trial.error}" if trial.step else "worked"
        for trial in (verdict.without, verdict.with_patchkit)
    ]
    if sides[0] == sides[1]:
        return verdict.note if verdict.without.worked else sides[0]
    if verdict.with_patchkit.worked:
        return sides[0]
    return f"{sides[0]}; with patchkit {sides[1]}"

"""The results of a sweep, arranged for readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .journal import SCHEMA, Journal
from .known import reason
from .records import Build, Subject
from .sweep import Selection
from .verdicts import OUTCOMES, Outcome, Verdict, verdicts

Column = tuple[str, str]
"""A mode and a method."""


@dataclass(frozen=True)
class Results:
    """What came of a selection.

    Args:
        environment: versions, Python, platform and date.
        verdicts: those on all cells that were tried.
        unbuilt: the model types of which no tiny model could be built.
        columns: the modes and methods, in order.
    """

    environment: dict[str, Any]
    verdicts: tuple[Verdict, ...]
    unbuilt: tuple[Build, ...]
    columns: tuple[Column, ...]

    @property
    def exit_status(self) -> int:
        """1 if anything is worse or other with patchkit, and nobody has said why."""
        return int(any(verdict.outcome.trouble for verdict in self.verdicts))

    def rows(self) -> list[tuple[Subject, dict[Column, Verdict]]]:
        """Return the verdicts of each model type by column."""
        rows: dict[Subject, dict[Column, Verdict]] = {}
        for verdict in self.verdicts:
            cell = verdict.cell
            rows.setdefault(cell.subject, {})[cell.mode, cell.method] = verdict
        return sorted(rows.items(), key=lambda row: (row[0].task, row[0].type))

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
        cells: the columns of each model type.
    """

    text: str
    reason: str
    cells: dict[Subject, list[Column]]


def results(journal: Journal, selection: Selection) -> Results:
    """Arrange what a journal has of a selection."""
    chosen = [verdict for verdict in verdicts(journal) if selection.includes(verdict.cell)]
    there = {(verdict.cell.mode, verdict.cell.method) for verdict in chosen}
    columns = tuple(
        (mode.name, method)
        for mode in selection.modes
        for method in selection.methods
        if (mode.name, method) in there
    )
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
        group = found.setdefault(text, Group(text, known, {}))
        column = verdict.cell.mode, verdict.cell.method
        group.cells.setdefault(verdict.cell.subject, []).append(column)
    return sorted(found.values(), key=lambda group: -len(group.cells))


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

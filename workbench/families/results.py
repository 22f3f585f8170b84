"""The results of a sweep, arranged for readers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..sweep.trial import Trial
from ..sweep.verdicts import CellVerdict, Group, Judged, grouped, judge_trials
from .differences import explanation
from .journal import SCHEMA, FamilyJournal
from .known import reason, reason_unbuilt
from .model_types import TASKS
from .modes import DEFAULT_METHODS
from .records import STEPS, Build, FamilyCell, ModelSubject
from .sweep import FamilySelection


@dataclass(frozen=True)
class Table:
    """Verdicts on several model types, or on several methods.

    Args:
        task: the task of all its models.
        by: what each row is: a `type`, or a `method` on a type.
        heads: the heads of the columns, in lines: precision, quantization, perhaps method.
        rows: the name of each row, and a verdict for each column; None where nothing was tried.
    """

    task: str
    by: str
    heads: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, tuple[CellVerdict[FamilyCell] | None, ...]], ...]


@dataclass(frozen=True)
class FamilyResults(Judged[FamilyCell]):
    """The results of a selection of model types.

    Args:
        environment: versions, Python, platform and date.
        verdicts: those on all cells that were tried.
        unbuilt: the model types of which no tiny model could be built.
        columns: modes with methods, in order.
    """

    unbuilt: tuple[Build, ...]
    columns: tuple[tuple[str, str], ...]

    def tables(self) -> Iterator[Table]:
        """Yield a table of types for each task, and one of methods if others were tried."""
        for task in TASKS:
            found = {
                verdict.cell: verdict
                for verdict in self.verdicts
                if verdict.cell.subject.task == task
            }
            usual = {cell: found[cell] for cell in found if cell.method in DEFAULT_METHODS}
            others = {cell.subject for cell in set(found) - set(usual)}
            if usual:
                yield self._by_type(task, usual)
            if others:
                cells = {cell: found[cell] for cell in found if cell.subject in others}
                yield self._by_method(task, cells)

    def _by_type(self, task: str, found: Mapping[FamilyCell, CellVerdict[FamilyCell]]) -> Table:
        tried = {(cell.mode, cell.method) for cell in found}
        columns = [column for column in self.columns if column in tried]
        subjects = sorted({cell.subject for cell in found}, key=lambda subject: subject.type)
        return Table(
            task,
            "type",
            tuple((*mode.split("/"), method) for mode, method in columns),
            tuple(
                (subject.type, tuple(found.get(FamilyCell(subject, *column)) for column in columns))
                for subject in subjects
            ),
        )

    def _by_method(self, task: str, found: Mapping[FamilyCell, CellVerdict[FamilyCell]]) -> Table:
        tried = {cell.mode for cell in found}
        modes = [mode for mode in dict.fromkeys(mode for mode, _ in self.columns) if mode in tried]
        rows = dict.fromkeys(
            (subject, method)
            for subject in sorted({cell.subject for cell in found}, key=lambda one: one.type)
            for _, method in self.columns
            if any(FamilyCell(subject, mode, method) in found for mode in modes)
        )
        return Table(
            task,
            "method",
            tuple(tuple(mode.split("/")) for mode in modes),
            tuple(
                (
                    f"{subject.type}, {method}",
                    tuple(found.get(FamilyCell(subject, mode, method)) for mode in modes),
                )
                for subject, method in rows
            ),
        )

    @cached_property
    def precisions(self) -> Mapping[str, set[str]]:
        """The precisions that were tried with each quantization."""
        tried: dict[str, set[str]] = {}
        for verdict in self.verdicts:
            precision, quantization = verdict.cell.mode.split("/")
            tried.setdefault(quantization, set()).add(precision)
        return tried

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
                    "note": verdict.note or reason(verdict.cell, verdict.with_patchkit),
                    "without": vars(verdict.without),
                    "with_patchkit": vars(verdict.with_patchkit),
                }
                for verdict in self.verdicts
            ],
            "unbuilt": [
                {**vars(build.subject), "error": build.error, "reason": reason_unbuilt(build)}
                for build in self.unbuilt
            ],
        }


def results(journal: FamilyJournal, selection: FamilySelection) -> FamilyResults:
    """Arrange what a journal has of a selection."""
    chosen = [verdict for verdict in verdicts(journal) if selection.includes(verdict.cell)]
    columns = tuple((mode.name, method) for mode in selection.modes for method in selection.methods)
    unbuilt = [
        build
        for build in journal.builds.values()
        if build.error and selection.includes_subject(build.subject)
    ]
    unbuilt.sort(key=lambda build: (build.subject.task, build.subject.type))
    return FamilyResults(journal.environment, tuple(chosen), tuple(unbuilt), columns)


def groups(chosen: Iterable[CellVerdict[FamilyCell]]) -> list[Group[FamilyCell]]:
    """Return cells by what happened in them, what most model types have first."""
    return grouped(
        chosen,
        lambda verdict: verdict.note or reason(verdict.cell, verdict.with_patchkit),
        lambda group: len(places(group)),
    )


def places(group: Group[FamilyCell]) -> dict[ModelSubject, list[FamilyCell]]:
    """Return the cells of a group by model type."""
    found: dict[ModelSubject, list[FamilyCell]] = {}
    for cell in group.cells:
        found.setdefault(cell.subject, []).append(cell)
    return found


def verdicts(journal: FamilyJournal) -> Iterator[CellVerdict[FamilyCell]]:
    """Yield the verdict on each cell that was tried on both sides."""
    versions = journal.environment.get("versions", {})
    for cell in journal.cells():
        yield judge(cell, journal.trials[cell, False], journal.trials[cell, True], versions)


def judge(
    cell: FamilyCell, without: Trial, with_patchkit: Trial, versions: Mapping[str, str | None]
) -> CellVerdict[FamilyCell]:
    """Compare the two sides of a cell, which were tried with these versions of the libraries."""
    return judge_trials(
        cell,
        without,
        with_patchkit,
        steps=STEPS,
        explain=lambda other: explanation(cell, other, versions),
    )

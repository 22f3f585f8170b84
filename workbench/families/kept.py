"""Keep the newest result of each cell in the repository, small enough to be reviewed as text.

A journal has every figure of every attempt. What is kept are the errors, and the names of the
figures that differ with patchkit: what the page of families says is made of these.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from patchkit.errors import UsageError

from ..sweep.trial import Trial
from ..sweep.verdicts import different_figures
from .journal import FamilyJournal
from .records import Build, FamilyCell, ModelSubject

KEPT = Path(__file__).with_name("measured.jsonl")
_SCHEMA = "families kept 1"


def load(path: Path = KEPT) -> FamilyJournal:
    """Return what is kept as a journal in memory.

    The figures of its trials are the names of those that differed, without their values.

    Raises:
        UsageError: the file cannot be read, or holds something else.
    """
    journal = FamilyJournal(None)
    try:
        head, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        if head["schema"] != _SCHEMA:
            raise ValueError(head["schema"])
        journal.environment = head["environment"]
        for row in rows:
            subject = ModelSubject(row["task"], row["type"])
            journal.builds[subject] = Build(subject, **row["build"])
            for group in row["cells"]:
                for cell in _cells(subject, group["where"]):
                    for patched in (False, True):
                        journal.trials[cell, patched] = _trial(group, patched)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"cannot read the kept results in {path}: {error}") from error
    return journal


def take_in(newer: FamilyJournal, path: Path = KEPT) -> None:
    """Put the results of a journal in the place of what is kept of the same cells.

    Raises:
        UsageError: the results come from other versions.
    """
    journal = load(path)
    first = journal.environment["date"].partition(" to ")[0]
    journal.join(newer)
    last = journal.environment["date"]
    journal.environment["date"] = first if first == last else f"{first} to {last}"
    save(journal, path)


def save(journal: FamilyJournal, path: Path = KEPT) -> None:
    """Write the results of a journal, those of each model type in a line."""
    lines: list[dict[str, Any]] = [{"schema": _SCHEMA, "environment": journal.environment}]
    cells: dict[ModelSubject, list[FamilyCell]] = {}
    for cell in journal.cells():
        cells.setdefault(cell.subject, []).append(cell)
    for subject in sorted(journal.builds, key=lambda subject: (subject.task, subject.type)):
        build = journal.builds[subject]
        fields = {name: value for name, value in vars(build).items() if name != "subject" and value}
        found = [] if build.error else _groups(journal, cells.get(subject, []))
        lines.append({**vars(subject), "build": fields, "cells": found})
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def _groups(journal: FamilyJournal, cells: Iterable[FamilyCell]) -> list[dict[str, Any]]:
    """Return the cells of a model type by what happened in them."""
    found: dict[str, tuple[dict[str, Any], dict[str, list[str]]]] = {}
    for cell in sorted(cells, key=lambda cell: (cell.mode, cell.method)):
        without, with_patchkit = journal.trials[cell, False], journal.trials[cell, True]
        group: dict[str, Any] = {}
        for name, trial in (("without", without), ("with", with_patchkit)):
            if not trial.worked:
                group[name] = [trial.step, trial.error, trial.place]
        if not group:
            other = different_figures(without, with_patchkit)
            if other:
                group["other"] = other
        where = found.setdefault(json.dumps(group), (group, {}))[1]
        where.setdefault(cell.mode, []).append(cell.method)
    return [{"where": where, **group} for group, where in found.values()]


def _cells(subject: ModelSubject, where: dict[str, list[str]]) -> Iterator[FamilyCell]:
    for mode, methods in where.items():
        for method in methods:
            yield FamilyCell(subject, mode, method)


def _trial(group: dict[str, Any], patched: bool) -> Trial:
    step, error, place = group.get("with" if patched else "without", ("", "", ""))
    return Trial(step, error, dict.fromkeys(group.get("other", ()), patched), place=place)

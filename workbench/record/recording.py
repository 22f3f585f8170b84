"""Turn verdicts into results for the compatibility matrix."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from patchkit.matrix.file import read_or_empty
from patchkit.matrix.outcome_table import OUTCOME_TABLE, OUTCOMES
from patchkit.matrix.records import Environment, Matrix, MatrixError, Result, Unmeasured
from patchkit.verification.verdicts import NO_ERROR, Verdict

from .sets import VersionSet

_NOTED = {outcome.name for outcome in OUTCOME_TABLE if outcome.style.startswith("bold")}
"""The outcomes that stand out in the table of `verify`: the matrix keeps their details."""
_SITE_PACKAGES = re.compile(r"[^\s(]*site-packages[/\\]")
"""The folder of the packages, which is left out of what is published."""


def matrix_to_extend(path: Path) -> Matrix:
    """Return the matrix in a file that is to be written; an empty one if there is no file yet.

    Problems that would prevent the writing show here, before anything is measured.

    Raises:
        MatrixError: the file is damaged, or there is no such folder.
    """
    if not path.absolute().parent.is_dir():
        raise MatrixError(f"cannot write {path.name}: there is no folder {path.parent}")
    return read_or_empty(path)


def from_files(paths: Iterable[Path]) -> Matrix:
    """Return the results in files written by `patchkit verify --json`.

    Raises:
        MatrixError: a file cannot be read, or holds something else.
    """
    matrix = Matrix()
    for path in paths:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise MatrixError(f"cannot read {path.name}: {error.strerror}") from error
        except ValueError as error:
            raise MatrixError(f"{path.name} is not JSON: {error}") from error
        matrix = matrix.merge(from_verdicts(content, path.name))
    return matrix


def from_verdicts(content: Any, name: str) -> Matrix:
    """Return the results of a verification, given as `Verification.to_dict` returns it.

    A version set that could not be measured is `{"unmeasured": {…}}`, with the fields of
    `Unmeasured`. A patch whose library is not installed was not measured and is left out.

    Args:
        content: the verification.
        name: its name in messages.

    Raises:
        MatrixError: it is something else.
    """
    try:
        if "unmeasured" in content:
            return Matrix(unmeasured=(Unmeasured(**content["unmeasured"]),))
        where = Environment(**content["environment"])
        results = [_result(where, Verdict(**verdict)) for verdict in content["verdicts"]]
    except (KeyError, TypeError, ValueError) as error:
        raise MatrixError(
            f"{name} is not what `patchkit verify --json` writes: {type(error).__name__}: {error}"
        ) from None
    return Matrix(tuple(result for result in results if result is not None))


def _result(where: Environment, verdict: Verdict) -> Result | None:
    from patchkit.engine.session import SESSION

    if verdict.outcome not in OUTCOMES:
        raise ValueError(f"no outcome {verdict.outcome!r}")
    entry = SESSION.catalogue.entries.get(verdict.id)
    if entry is None or entry.patch.library not in where.versions:
        return None
    note = ""
    if verdict.outcome in _NOTED:
        with_it = verdict.outcome == "not-fixed" or verdict.without == NO_ERROR
        note = _SITE_PACKAGES.sub("", verdict.with_patch if with_it else verdict.without)
    return Result(verdict.id, verdict.outcome, where, note)


def unmeasured_sets(matrix: Matrix, sets: Iterable[VersionSet]) -> Matrix:
    """Return the version sets that have no result and no reason for it, as unmeasured."""
    explained = {unmeasured.name for unmeasured in matrix.unmeasured}
    today = datetime.date.today().isoformat()
    without_result = (
        Unmeasured(version_set.name, version_set.versions, today, "there is no result of it")
        for version_set in sets
        if version_set.name not in explained and not matrix.has_run(version_set.versions)
    )
    return Matrix(unmeasured=tuple(without_result))


def summary_lines(matrix: Matrix) -> list[str]:
    """Return a line for each result and each version set that was not measured."""
    lines = [f"{result.outcome:<15} {result.patch}" for result in matrix.results]
    gaps = (f"not measured    {gap.name}: {gap.problem}" for gap in matrix.unmeasured)
    return [*lines, *gaps]

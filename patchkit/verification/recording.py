"""From verdicts to the compatibility matrix."""

from __future__ import annotations

import datetime
import json
import platform
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..matrix import (
    Environment,
    Matrix,
    MatrixError,
    Result,
    Unmeasured,
    installed_versions,
    read_or_empty,
)
from ..matrix.outcome_table import NOTED, OUTCOMES
from .verdicts import NO_ERROR, Verdict

if TYPE_CHECKING:
    from ..matrix.sets import VersionSet

_SITE_PACKAGES = re.compile(r"[^\s(]*site-packages[/\\]")
"""Where somebody keeps the packages is nothing to publish."""


def environment() -> Environment:
    """Where this process measures, today."""
    from ..engine.session import SESSION

    return Environment(
        versions=installed_versions(
            library for entry in SESSION.catalogue for library in entry.patch.affects
        ),
        python=platform.python_version(),
        platform=f"{platform.system()}-{platform.machine()}".lower(),
        device=_device(),
        date=datetime.date.today().isoformat(),
    )


def begin(path: Path) -> Matrix:
    """The matrix in a file that is to be written; an empty one where there is none yet.

    What would stop the writing is found now, before anything is measured.

    Raises:
        MatrixError: the file is damaged, or there is no such folder.
    """
    if not path.absolute().parent.is_dir():
        raise MatrixError(f"cannot write {path.name}: there is no folder {path.parent}")
    return read_or_empty(path)


def from_files(paths: Iterable[Path]) -> Matrix:
    """What files written by `patchkit verify --json` add to a matrix.

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
    """What a verification adds to a matrix, given as `Verification.to_dict` made it.

    A version set that could not be measured is `{"unmeasured": {…}}`, with the fields of
    `Unmeasured`. A patch whose library is not installed was not measured, and is left out.

    Args:
        content: the verification.
        name: what to call it in a message.

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
    return Matrix(tuple(one for one in results if one is not None))


def _result(where: Environment, verdict: Verdict) -> Result | None:
    from ..engine.session import SESSION

    if verdict.outcome not in OUTCOMES:
        raise ValueError(f"no outcome {verdict.outcome!r}")
    entry = SESSION.catalogue.entries.get(verdict.id)
    if entry is None or entry.patch.library not in where.versions:
        return None
    note = ""
    if verdict.outcome in NOTED:
        with_it = verdict.outcome == "not-mended" or verdict.without == NO_ERROR
        note = _SITE_PACKAGES.sub("", verdict.with_patch if with_it else verdict.without)
    return Result(verdict.id, verdict.outcome, where, note)


def never_run(matrix: Matrix, sets: Iterable[VersionSet]) -> Matrix:
    """The version sets of which there is no result at all, as unmeasured."""
    told = {one.name for one in matrix.unmeasured}
    today = datetime.date.today().isoformat()
    left = (
        Unmeasured(one.name, one.versions, today, "there is no result of it")
        for one in sets
        if one.name not in told and not matrix.has_run(one.versions)
    )
    return Matrix(unmeasured=tuple(left))


def summary(matrix: Matrix) -> Sequence[str]:
    """A line for each thing measured."""
    lines = [f"{one.outcome:<15} {one.patch}" for one in matrix.results]
    return [*lines, *(f"not measured    {one.name}: {one.problem}" for one in matrix.unmeasured)]


def _device() -> str:
    try:
        import torch
    except ImportError:
        return "cpu"
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"

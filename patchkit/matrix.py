"""The compatibility matrix: which patches were measured on which versions, with what result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .environment import in_range
from .errors import PatchError

SCHEMA = 1
_HERE = Path(__file__).resolve().parent


class MatrixError(PatchError):
    """The compatibility matrix cannot be read."""


@dataclass(frozen=True)
class Result:
    """One patch measured in one environment.

    Args:
        patch: id of the patch.
        outcome: `mended` (the bug showed without the patch and not with it), `not-mended`,
            `not-reproduced` (no bug without the patch either), `not-affected`,
            `needs-cuda` (due, but the reproducer needs a GPU), or `error`.
        versions: distribution to version.
        python: version of the interpreter.
        platform: such as `linux-x86_64`.
        device: `cpu`, or the name of the accelerator.
        date: day of the measurement, ISO 8601.
    """

    patch: str
    outcome: str
    versions: dict[str, str]
    python: str
    platform: str
    device: str
    date: str

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes it the same measurement made again."""
        return self.patch, self.device, tuple(sorted(self.versions.items()))


OUTCOMES = ("mended", "not-mended", "not-reproduced", "not-affected", "needs-cuda", "error")


def default_path() -> Path:
    """The matrix inside a wheel, or beside the engine in a checkout."""
    shipped = _HERE / "compat_matrix.yaml"
    return shipped if shipped.exists() else _HERE.parent / "compat_matrix.yaml"


def read(path: Path) -> list[Result]:
    """Read a matrix.

    Raises:
        MatrixError: the file is missing, is no YAML, or does not follow the schema.
    """
    import yaml

    try:
        # libyaml's loader, where PyYAML has it, takes a twentieth of the time.
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    except OSError as error:
        raise MatrixError(f"cannot read {path.name}: {error.strerror}") from error
    except (yaml.YAMLError, ValueError) as error:  # a ValueError: not UTF-8, or no such day
        problem = " ".join(str(error).split())
        raise MatrixError(f"{path.name} is not YAML: {problem}") from error
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise MatrixError(f"{path.name} must be a mapping with `schema: {SCHEMA}`")
    results = content.get("results")
    if not isinstance(results, list):
        raise MatrixError(f"{path.name} has no list `results`")
    return [_result(row, number, path.name) for number, row in enumerate(results, 1)]


def _result(row: object, number: int, name: str) -> Result:
    try:
        result = Result(**row)  # type: ignore[arg-type]
    except TypeError as error:
        raise MatrixError(f"{name}: result {number} does not follow the schema: {error}") from None
    if result.outcome not in OUTCOMES or not isinstance(result.versions, dict):
        raise MatrixError(
            f"{name}: result {number}: `outcome` must be one of {', '.join(OUTCOMES)}, and "
            "`versions` a mapping"
        )
    plain = {name: value for name, value in vars(result).items() if name != "versions"}
    for key, value in [*plain.items(), *result.versions.items()]:
        if not isinstance(key, str) or not isinstance(value, str):
            raise MatrixError(f"{name}: result {number}: {key!r} must be a string, not {value!r}")
    for version in result.versions.values():
        try:
            in_range(version, "")
        except ValueError as error:
            raise MatrixError(f"{name}: result {number}: {error}") from None
    return result


def write(path: Path, results: list[Result]) -> None:
    """Write a matrix, sorted so that a change of it is a small diff."""
    import yaml

    rows = [vars(one) for one in sorted(results, key=_place)]
    header = "# Written by `patchkit matrix record` from measurements; not by hand.\n"
    text = yaml.safe_dump({"schema": SCHEMA, "results": rows}, sort_keys=False, width=1000)
    try:
        path.write_text(header + text, encoding="utf-8")
    except OSError as error:
        raise MatrixError(f"cannot write {path.name}: {error.strerror}") from error


def _place(one: Result) -> tuple[Any, ...]:
    from packaging.version import Version

    versions = tuple((name, Version(version)) for name, version in sorted(one.versions.items()))
    return one.patch, one.device, versions


def merge(old: list[Result], new: list[Result]) -> list[Result]:
    """The new results, and the old ones that were not measured again."""
    by_key = {one.key: one for one in [*old, *new]}
    return list(by_key.values())


@cache
def _shipped() -> list[Result] | MatrixError:
    try:
        return read(default_path())
    except MatrixError as error:
        return error


def outcomes(patch_id: str, versions: Mapping[str, str]) -> set[str]:
    """What was measured of a patch where these distributions had exactly these versions."""
    results = _shipped()
    if isinstance(results, MatrixError):
        return set()
    return {
        one.outcome
        for one in results
        if one.patch == patch_id and versions.items() <= one.versions.items()
    }


def tested(patch_id: str, library: str, version: str | None) -> str:
    """What was measured of a patch on a version of its library, in a few words."""
    results = _shipped()
    if isinstance(results, MatrixError):
        return f"unknown: {results}"
    outcomes = sorted(
        {
            one.outcome
            for one in results
            if one.patch == patch_id and one.versions.get(library) == version
        }
    )
    if not outcomes or version is None:
        return "not measured"
    return f"{library} {version} measured: {', '.join(outcomes)}"

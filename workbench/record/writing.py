"""Write `compat_matrix.yaml`, and other files in one step."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from patchkit.matrix.file import SCHEMA, read
from patchkit.matrix.records import Matrix, MatrixError, Result, Scan, Unmeasured

_HEADER = """\
# Written by `python -m workbench`, from measurements; not by hand. docs/matrix.md has the schema.
"""


def read_or_empty(path: Path) -> Matrix:
    """Read a matrix; a missing file is an empty one."""
    return read(path) if path.exists() else Matrix()


def write(path: Path, matrix: Matrix) -> None:
    """Write a matrix, sorted so that a small change makes a small diff.

    Raises:
        MatrixError: the file cannot be written.
    """
    import yaml

    content = {
        "schema": SCHEMA,
        "runs": list(_runs(matrix.results)),
        "scans": [_row(scan) for scan in sorted(matrix.scans, key=_scan_order)],
        "unmeasured": [
            _row(version_set)
            for version_set in sorted(matrix.unmeasured, key=lambda version_set: version_set.name)
        ],
    }
    text = yaml.safe_dump(content, sort_keys=False, width=1000, allow_unicode=True)
    try:
        replace_text(path, _HEADER + text)
    except OSError as error:
        raise MatrixError(f"cannot write {path}: {error.strerror}") from error


def replace_text(path: Path, text: str) -> None:
    """Put a text into a file in one step: a reader sees the old one or the new one.

    Raises:
        OSError: it cannot be written; it is then unchanged.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")  # another process may write, too
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def _runs(results: Iterable[Result]) -> Iterator[dict[str, Any]]:
    """Yield a row for each environment, with all of its results."""
    runs: dict[str, list[Result]] = {}
    for result in sorted(results, key=_result_order):
        runs.setdefault(repr(vars(result.environment)), []).append(result)
    for group in runs.values():
        run = dict(vars(group[0].environment))
        run["outcomes"] = {result.patch: result.outcome for result in group}
        if notes := {result.patch: result.note for result in group if result.note}:
            run["notes"] = notes
        yield run


def _row(record: Scan | Unmeasured) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if value}


def _result_order(result: Result) -> tuple[Any, ...]:
    from packaging.version import Version

    place = result.environment
    versions = tuple((name, Version(text)) for name, text in sorted(place.versions.items()))
    # By TRL first: that is how a person looks for a set of versions.
    trl = Version(place.versions.get("trl", "0"))
    return trl, versions, place.device, place.date, place.python, place.platform, result.patch


def _scan_order(scan: Scan) -> tuple[Any, ...]:
    from packaging.version import Version

    return scan.library, Version(scan.version)

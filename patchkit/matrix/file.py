"""Read `compat_matrix.yaml`, check it against its schema, and write it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..about import shipped_path
from ..environment import in_range
from .outcome_table import OUTCOMES, STATES
from .records import Environment, Matrix, MatrixError, Result, Scan, Unmeasured

SCHEMA = 1
_HEADER = """\
# Written by `patchkit matrix`, from measurements; not by hand. docs/matrix.md has the schema.
"""


def default_path() -> Path:
    """Return the path of the matrix in a wheel, or beside the package in a checkout."""
    return Path(shipped_path("compat_matrix.yaml"))


def read(path: Path) -> Matrix:
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
    try:
        return _matrix(content)
    except _Flaw as flaw:
        raise MatrixError(f"{path.name}: {flaw}") from None


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


class _Flaw(Exception):
    """Something does not follow the schema; the message says where, and what should be there."""


_SECTIONS: dict[str, dict[str, type]] = {
    "runs": {
        "versions": dict,
        **dict.fromkeys(("python", "platform", "device", "date"), str),
        "outcomes": dict,
        "notes": dict,
    },
    "scans": {
        **dict.fromkeys(("library", "version", "date"), str),
        **dict.fromkeys(("states", "notes", "unlisted"), dict),
        "problem": str,
    },
    "unmeasured": {"name": str, "versions": dict, "date": str, "problem": str},
}
"""The keys of a row in each section."""
_OPTIONAL = {"runs": {"notes"}, "scans": {"states", "notes", "unlisted", "problem"}}
_ALLOWED = {"outcomes": OUTCOMES, "states": STATES}


def _matrix(content: Mapping[object, object]) -> Matrix:
    """Make records of the content of a file, or raise a _Flaw."""
    if unknown := set(content) - {"schema", *_SECTIONS}:
        raise _Flaw(f"unknown key {', '.join(map(repr, sorted(map(str, unknown))))}")
    runs, scans, unmeasured = (list(_rows(content, section)) for section in _SECTIONS)
    return Matrix(
        tuple(result for row in runs for result in _results(**row)),
        tuple(Scan(**row) for row in scans),
        tuple(Unmeasured(**row) for row in unmeasured),
    )


def _results(
    outcomes: dict[str, str], notes: Mapping[str, str] = MappingProxyType({}), **where: Any
) -> list[Result]:
    environment = Environment(**where)
    return [
        Result(patch, outcome, environment, notes.get(patch, ""))
        for patch, outcome in outcomes.items()
    ]


def _rows(content: Mapping[object, object], section: str) -> Iterator[dict[str, Any]]:
    rows = content.get(section)
    if not isinstance(rows, list):
        raise _Flaw(f"`{section}` must be a list")
    for number, row in enumerate(rows, 1):
        try:
            _check_row(row, _SECTIONS[section], _OPTIONAL.get(section, set()))
        except (_Flaw, ValueError) as error:  # a ValueError: no such version
            raise _Flaw(f"{section} {number}: {error}") from None
        yield row


def _check_row(row: object, keys: Mapping[str, type], optional: set[str]) -> None:
    if not isinstance(row, dict):
        raise _Flaw(f"must be a mapping, not {row!r}")
    for key, cls in keys.items():
        if key in optional and key not in row:
            continue
        value = row.get(key)
        if not isinstance(value, cls):
            expected = "a string" if cls is str else "a mapping"
            raise _Flaw(f"`{key}` must be {expected}, not {value!r}")
        if isinstance(value, dict):
            _check_entries(key, value)
    if unknown := [key for key in row if key not in keys]:
        raise _Flaw(f"unknown key {', '.join(map(repr, unknown))}")
    for version in [row.get("version", "0"), *row.get("versions", {}).values()]:
        in_range(version, "")


def _check_entries(key: str, entries: Mapping[object, object]) -> None:
    expected = "a list of strings" if key == "unlisted" else "a string"
    allowed = _ALLOWED.get(key)
    for name, entry in entries.items():
        if key == "unlisted":
            is_valid = isinstance(entry, list) and all(isinstance(text, str) for text in entry)
        else:
            is_valid = isinstance(entry, str)
        if not is_valid or not isinstance(name, str):
            raise _Flaw(f"`{key}`: {name!r} must be {expected}, not {entry!r}")
        if allowed and entry not in allowed:
            raise _Flaw(f"`{key}`: {name} must be one of {', '.join(allowed)}")

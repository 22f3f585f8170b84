"""`compat_matrix.yaml`: read, checked against its schema, and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..about import shipped_path
from ..environment import in_range
from .outcome_table import OUTCOMES, STATES
from .records import Environment, Matrix, MatrixError, Result, Scan, Unmeasured

SCHEMA = 2
_HEADER = """\
# Written by `patchkit matrix`, from measurements; not by hand. docs/matrix.md has the schema.
"""


def default_path() -> Path:
    """The matrix inside a wheel, or beside the engine in a checkout."""
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
    """Read a matrix; one that is not there is empty."""
    return read(path) if path.exists() else Matrix()


def write(path: Path, matrix: Matrix) -> None:
    """Write a matrix, sorted so that a change of it is a small diff.

    Raises:
        MatrixError: the file cannot be written.
    """
    import yaml

    content = {
        "schema": SCHEMA,
        "runs": list(_runs(matrix.results)),
        "scans": [_present(one) for one in sorted(matrix.scans, key=_place_of_scan)],
        "unmeasured": [_present(one) for one in sorted(matrix.unmeasured, key=lambda it: it.name)],
    }
    text = yaml.safe_dump(content, sort_keys=False, width=1000, allow_unicode=True)
    beside = path.with_name(path.name + ".new")
    try:
        beside.write_text(_HEADER + text, encoding="utf-8")
        beside.replace(path)  # a reader sees the old file or the new one, never half of one
    except OSError as error:
        raise MatrixError(f"cannot write {path.name}: {error.strerror}") from error


def _runs(results: Iterable[Result]) -> Iterator[dict[str, Any]]:
    """The results by environment, each environment once."""
    runs: dict[str, list[Result]] = {}
    for one in sorted(results, key=_place_of_result):
        runs.setdefault(repr(vars(one.environment)), []).append(one)
    for together in runs.values():
        run = dict(vars(together[0].environment))
        run["outcomes"] = {one.patch: one.outcome for one in together}
        if notes := {one.patch: one.note for one in together if one.note}:
            run["notes"] = notes
        yield run


def _present(record: Scan | Unmeasured) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if value}


def _place_of_result(one: Result) -> tuple[Any, ...]:
    where = one.environment
    versions = tuple((name, _number(text)) for name, text in sorted(where.versions.items()))
    # By TRL first: that is how a person looks for a set of versions.
    trl = _number(where.versions.get("trl", "0"))
    return trl, versions, where.device, where.date, where.python, where.platform, one.patch


def _place_of_scan(one: Scan) -> tuple[Any, ...]:
    return one.library, _number(one.version)


def _number(version: str) -> Any:
    from packaging.version import Version

    return Version(version)


class _Flaw(Exception):
    """Something does not follow the schema; the message says where, what, and what should be."""


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
    """Return the records of a file's content.

    Raises:
        _Flaw: it does not follow the schema.
    """
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
    """Yield the rows of a section, each checked."""
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
    for key, kind in keys.items():
        if key in optional and key not in row:
            continue
        value = row.get(key)
        if not isinstance(value, kind):
            what = "a string" if kind is str else "a mapping"
            raise _Flaw(f"`{key}` must be {what}, not {value!r}")
        if isinstance(value, dict):
            _check_entries(key, value)
    if unknown := [key for key in row if key not in keys]:
        raise _Flaw(f"unknown key {', '.join(map(repr, unknown))}")
    for version in [row.get("version", "0"), *row.get("versions", {}).values()]:
        in_range(version, "")


def _check_entries(key: str, entries: Mapping[object, object]) -> None:
    what = "a list of strings" if key == "unlisted" else "a string"
    allowed = _ALLOWED.get(key)
    for name, entry in entries.items():
        if key == "unlisted":
            sound = isinstance(entry, list) and all(isinstance(text, str) for text in entry)
        else:
            sound = isinstance(entry, str)
        if not sound or not isinstance(name, str):
            raise _Flaw(f"`{key}`: {name!r} must be {what}, not {entry!r}")
        if allowed and entry not in allowed:
            raise _Flaw(f"`{key}`: {name} must be one of {', '.join(allowed)}")

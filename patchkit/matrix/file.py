"""`compat_matrix.yaml`: read, checked against its schema, and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ..environment import in_range
from .outcome_table import OUTCOMES, STATES
from .records import Environment, Matrix, MatrixError, Result, Scan, Unmeasured

SCHEMA = 2
_PACKAGE = Path(__file__).resolve().parent.parent
_HEADER = """\
# Written by `patchkit matrix`, from measurements; not by hand. docs/matrix.md has the schema.
"""


def default_path() -> Path:
    """The matrix inside a wheel, or beside the engine in a checkout."""
    shipped = _PACKAGE / "compat_matrix.yaml"
    return shipped if shipped.exists() else _PACKAGE.parent / "compat_matrix.yaml"


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
        return _Reader(content).matrix()
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


_Read = TypeVar("_Read")


class _Reader:
    """Turns what YAML gives into records, and names the place of whatever is not as it should be.

    Args:
        content: the top of the file.
    """

    def __init__(self, content: Mapping[object, object]) -> None:
        self.content = content

    def matrix(self) -> Matrix:
        unknown = set(self.content) - {"schema", "runs", "scans", "unmeasured"}
        if unknown:
            raise _Flaw(f"unknown key {', '.join(map(repr, sorted(map(str, unknown))))}")
        results = [result for row in self._rows("runs") for result in row.results()]
        return Matrix(
            tuple(results),
            tuple(row.scan() for row in self._rows("scans")),
            tuple(row.unmeasured() for row in self._rows("unmeasured")),
        )

    def _rows(self, section: str) -> Iterator[_Row]:
        rows = self.content.get(section)
        if not isinstance(rows, list):
            raise _Flaw(f"`{section}` must be a list")
        for number, row in enumerate(rows, 1):
            yield _Row(row, f"{section} {number}")


class _Row:
    """One entry of a section.

    Args:
        row: what YAML gave.
        place: names it in a message.
    """

    def __init__(self, row: object, place: str) -> None:
        if not isinstance(row, dict):
            raise _Flaw(f"{place}: must be a mapping, not {row!r}")
        self.row = dict(row)
        self.place = place

    def results(self) -> list[Result]:
        environment = Environment(
            self._versions(), *map(self._text, ("python", "platform", "device", "date"))
        )
        outcomes = self._texts("outcomes", allowed=OUTCOMES)
        notes = self._texts("notes", optional=True)
        self._done()
        return [
            Result(patch, outcome, environment, notes.get(patch, ""))
            for patch, outcome in outcomes.items()
        ]

    def scan(self) -> Scan:
        scan = Scan(
            self._text("library"),
            self._version(self._text("version")),
            self._text("date"),
            self._texts("states", allowed=STATES, optional=True),
            self._texts("notes", optional=True),
            self._lists("unlisted"),
            self._text("problem", optional=True),
        )
        self._done()
        return scan

    def unmeasured(self) -> Unmeasured:
        name, versions = self._text("name"), self._versions()
        found = Unmeasured(name, versions, self._text("date"), self._text("problem"))
        self._done()
        return found

    def _done(self) -> None:
        if self.row:
            raise self._flaw(f"unknown key {', '.join(map(repr, self.row))}")

    def _flaw(self, problem: str) -> _Flaw:
        return _Flaw(f"{self.place}: {problem}")

    def _take(self, key: str, kind: type[_Read], what: str, *, optional: bool) -> _Read:
        if key not in self.row and optional:
            return kind()
        value = self.row.pop(key, None)
        if not isinstance(value, kind):
            raise self._flaw(f"`{key}` must be {what}, not {value!r}")
        return value

    def _text(self, key: str, *, optional: bool = False) -> str:
        return self._take(key, str, "a string", optional=optional)

    def _texts(
        self, key: str, *, allowed: Iterable[str] = (), optional: bool = False
    ) -> dict[str, str]:
        found = self._take(key, dict, "a mapping", optional=optional)
        for name, value in found.items():
            if not isinstance(name, str) or not isinstance(value, str):
                raise self._flaw(f"`{key}`: {name!r} must be a string, not {value!r}")
            if allowed and value not in allowed:
                raise self._flaw(f"`{key}`: {name} must be one of {', '.join(allowed)}")
        return found

    def _lists(self, key: str) -> dict[str, list[str]]:
        found = self._take(key, dict, "a mapping", optional=True)
        for name, value in found.items():
            texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
            if not isinstance(name, str) or not texts:
                raise self._flaw(f"`{key}`: {name!r} must be a list of strings, not {value!r}")
        return found

    def _versions(self) -> dict[str, str]:
        found = self._texts("versions")
        for version in found.values():
            self._version(version)
        return found

    def _version(self, text: str) -> str:
        try:
            in_range(text, "")
        except ValueError as error:
            raise self._flaw(str(error)) from None
        return text

"""Settings of a training by today's names, for files and command lines alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ...legacy.changes import Convert, Drop, Environment, Keep, Keyword, Refuse, Rename, Value
from ...legacy.due import Due, MethodRows
from ...legacy.errors import LegacyError
from ...legacy.wording import since
from ..findings import Outcome
from .readers import Reader

_ONLY_READ = "overwrite_output_dir"
"""The field that trainings do not depend on, and that is kept for scripts that read it."""
_OPEN = re.compile(r"[${]")
"""What is in values that are known only when a command runs."""
_SAMPLES = (0.5, 8, "name")
_TRAINERS_OWN = "trust_remote_code"
"""The field that configurations of trainers have in place of another class."""


@dataclass(frozen=True)
class Changed:
    """What becomes of a setting.

    Args:
        name: the old name.
        outcome: whether it was changed, or why it was not.
        because: since when, and what is to be decided; the old name goes before it.
        new: the settings that take its place; None if the old one stays as it is.
        without: others that go with it.
        environment: variables that take its place.
    """

    name: str
    outcome: Outcome
    because: str
    new: Mapping[str, Any] | None = None
    without: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


class _Given:
    """Settings, as the converters of the table ask a call for its arguments.

    Attributes:
        arguments: the settings that are not being converted.
        unknown: the others with an old name.
    """

    def __init__(self, settings: Mapping[str, Any], old: set[str]) -> None:
        self.arguments = {name: value for name, value in settings.items() if name not in old}
        self.unknown = {name: value for name, value in settings.items() if name in old}

    def place(self) -> str:
        return "the settings"


def changes(settings: Mapping[str, Any], reader: Reader, due: Due) -> Iterator[Changed]:
    """Yield what becomes of each setting that has changed.

    Args:
        settings: by their names, as the file or command line gives them.
        reader: what reads them.
        due: the rows of the table for the releases that are wanted.
    """
    known = [rows for it in reader.configurations if (rows := due.methods(it).get("__init__"))]
    keywords = {
        name: row
        for name in settings
        if (row := _row(name, known)) is not None and not _is_own(row, reader)
    }
    given = _Given(settings, set(keywords))
    for name, row in keywords.items():
        if name in given.unknown:
            yield from _changed(row, given.unknown.pop(name), given, reader)
    for name, value in settings.items():
        if name not in reader.own:
            yield from _respelled(name, value, known)


def _is_own(row: Keyword, reader: Reader) -> bool:
    """Tell whether a setting is one of the script's own, and keeps its name."""
    renamed = isinstance(row.action, Rename) and row.name in reader.overridden
    return row.name in reader.own and not renamed


def _row(name: str, known: list[MethodRows]) -> Keyword | None:
    return next((rows.keywords[name] for rows in known if name in rows.keywords), None)


def _changed(row: Keyword, value: Any, given: _Given, reader: Reader) -> Iterator[Changed]:
    action, gone = row.action, since(row)
    if isinstance(action, Rename):
        yield _replaced(row, {action.to: value}, (), given)
    elif isinstance(action, Convert):
        yield _converted(row, action, value, given)
    elif isinstance(action, Environment):
        yield _variable(row, action.variable, value, reader)
    elif isinstance(action, Keep):
        yield from _kept(row, action)
    elif isinstance(action, Drop) and not _refused(action, value):
        yield Changed(row.name, Outcome.CHANGED, f"{gone}: {action.because}", {})
    elif isinstance(action, Drop | Refuse):
        yield Changed(row.name, Outcome.GONE, f"{gone}. {action.instead}")


def _converted(row: Keyword, action: Convert, value: Any, given: _Given) -> Changed:
    if isinstance(value, str) and _OPEN.search(value):
        if _only_renames(action):
            return _replaced(row, {action.to: value}, (), given)
        return _undecided(row, f"{since(row)}; write {action.to}")
    arguments, unknown = dict(given.arguments), dict(given.unknown)
    try:
        new = action.convert(value, given)
    except (LegacyError, TypeError, ValueError, AttributeError, OSError):
        given.arguments, given.unknown = arguments, unknown
        return _undecided(row, f"{since(row)}; no setting of today says {value!r}")
    taken = (arguments.keys() | unknown.keys()) - given.arguments.keys() - given.unknown.keys()
    return _replaced(row, new, tuple(sorted(taken)), given)


def _only_renames(action: Convert) -> bool:
    """Tell whether values stay what they are, as far as samples of them show."""
    results = []
    for sample in _SAMPLES:
        with suppress(LegacyError, TypeError, ValueError, AttributeError):
            results.append(action.convert(sample, _Given({}, set())) == {action.to: sample})
    return bool(results) and all(results)


def _replaced(
    row: Keyword, new: Mapping[str, Any], without: tuple[str, ...], given: _Given
) -> Changed:
    gone = since(row)
    for name, value in new.items():
        if name not in given.arguments:
            continue
        if given.arguments[name] != value:
            return _undecided(row, f"{gone}; {name} is given, too: keep that")
        new = {other: it for other, it in new.items() if other != name}
    given.arguments.update(new)
    return Changed(row.name, Outcome.CHANGED, gone, new, without)


def _undecided(row: Keyword, because: str) -> Changed:
    return Changed(row.name, Outcome.REMARKED, because)


def _variable(row: Keyword, variable: str, value: Any, reader: Reader) -> Changed:
    gone = since(row)
    if value is None:
        return Changed(row.name, Outcome.CHANGED, gone, {})
    if not reader.sets_environment:
        return _undecided(row, f"{gone}; the environment variable {variable} says it")
    return Changed(row.name, Outcome.CHANGED, gone, {}, environment={variable: str(value)})


def _kept(row: Keyword, action: Keep) -> Iterator[Changed]:
    gone = since(row)
    if row.name == _ONLY_READ:
        yield Changed(row.name, Outcome.CHANGED, f"{gone}: only scripts read it", {})
    elif row.name != _TRAINERS_OWN:
        what = "completions" if "completions" in action.advice else "prompts"
        because = f"{gone}; truncate the {what} in the dataset, if any are longer"
        yield Changed(row.name, Outcome.REMARKED, because, {})


def _refused(action: Drop, value: Any) -> bool:
    try:
        return action.unless is not None and action.unless(value)
    except TypeError:
        return True


def _respelled(name: str, value: Any, known: list[MethodRows]) -> Iterator[Changed]:
    """Yield what becomes of a value that has another name today."""
    rows = [row for it in known for row in it.values if row.name == name]
    today, found = value, list[Value]()
    for row in rows:
        values = today if isinstance(today, list) else [today]
        if row.value in values:
            found.append(row)
            new = [row.to if it == row.value else it for it in values]
            today = new if isinstance(today, list) else new[0]
    for row in found[:1]:
        gone = f"as {row.value!r} {since(row)}"
        if all(it.to for it in found):
            yield Changed(name, Outcome.CHANGED, gone, {name: today})
        else:
            yield Changed(name, Outcome.GONE, f"{gone}. {row.instead}")

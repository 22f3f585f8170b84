"""Settings of a training by today's names, for files and command lines alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...legacy.changes import Convert, Drop, Environment, Keep, Keyword, Refuse, Rename, Value
from ...legacy.errors import LegacyError
from ...legacy.versions.due import Due, MethodRows
from ...legacy.wording import since
from ..findings import Outcome
from ..python.standin import Standin, UndecidedError
from .readers import Reader

_ONLY_READ = frozenset({"overwrite_output_dir", "save_safetensors"})
"""Fields that trainings do not depend on, and that are kept for scripts that read them."""
_OPEN = re.compile(r"[${]")
"""What is in values that are known only when a command runs."""
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
    given = Standin(
        {name: value for name, value in settings.items() if name not in keywords},
        {name: value for name, value in settings.items() if name in keywords},
    )
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


def _changed(row: Keyword, value: Any, given: Standin, reader: Reader) -> Iterator[Changed]:
    action, gone = row.action, since(row)
    if isinstance(action, Rename):
        yield _replaced(row, {action.to: value}, (), given)
    elif isinstance(action, Convert):
        yield _converted(row, action, value, given)
    elif isinstance(action, Environment):
        yield _variable(row, action.variable, value, reader)
    elif isinstance(action, Keep):
        yield from _kept(row, action, value)
    elif isinstance(action, Drop) and not _refused(action, value):
        yield Changed(row.name, Outcome.CHANGED, f"{gone}: {action.because}", {})
    elif isinstance(action, Drop | Refuse):
        yield Changed(row.name, Outcome.GONE, f"{gone}. {action.instead}")


def _converted(row: Keyword, action: Convert, value: Any, given: Standin) -> Changed:
    if isinstance(value, str) and _OPEN.search(value):
        if action.written == "{value}":
            return _replaced(row, {action.to: value}, (), given)
        return Changed(row.name, Outcome.REMARKED, f"{since(row)}; write {action.to}")
    before = Standin(given.arguments, given.unknown)
    try:
        new = action.convert(value, given)
    except (LegacyError, UndecidedError, TypeError, ValueError, AttributeError, OSError) as error:
        given.arguments, given.unknown = before.arguments, before.unknown
        outcome = Outcome.GONE if isinstance(error, LegacyError) else Outcome.REMARKED
        return Changed(row.name, outcome, f"{since(row)}; no setting of today says {value!r}")
    taken = before.arguments.keys() | before.unknown.keys()
    taken -= given.arguments.keys() | given.unknown.keys()
    return _replaced(row, new, tuple(sorted(taken)), given)


def _replaced(
    row: Keyword, new: Mapping[str, Any], without: tuple[str, ...], given: Standin
) -> Changed:
    gone = since(row)
    for name, value in new.items():
        if name not in given.arguments:
            continue
        if given.arguments[name] != value:
            return Changed(row.name, Outcome.REMARKED, f"{gone}; {name} is given, too: keep that")
        new = {other: it for other, it in new.items() if other != name}
    given.arguments.update(new)
    return Changed(row.name, Outcome.CHANGED, gone, new, without)


def _variable(row: Keyword, variable: str, value: Any, reader: Reader) -> Changed:
    gone = since(row)
    if value is None:
        return Changed(row.name, Outcome.CHANGED, gone, {})
    if not reader.sets_environment:
        return Changed(
            row.name, Outcome.REMARKED, f"{gone}; the environment variable {variable} says it"
        )
    return Changed(row.name, Outcome.CHANGED, gone, {}, environment={variable: str(value)})


def _kept(row: Keyword, action: Keep, value: Any) -> Iterator[Changed]:
    gone = since(row)
    if row.name in _ONLY_READ:
        yield Changed(row.name, Outcome.CHANGED, f"{gone}: only scripts read it", {})
    elif action.by:
        trainer = row.owners[0].rpartition(".")[2].removesuffix("Config") + "Trainer"
        call = f"{action.by}({trainer}, {action.to}={value!r})"
        because = f"{gone}; in a script, {call} in the place of {trainer} sees to it"
        yield Changed(row.name, Outcome.REMARKED, because, {})
    elif row.name != _TRAINERS_OWN:
        yield Changed(row.name, Outcome.REMARKED, f"{gone}; {action.advice}")


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

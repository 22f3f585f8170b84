"""Old names on command lines and in files of settings."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...changes import Adjusted
from ...guarding.method import Method
from ..call import Call
from ..command_line_values import value_of
from ..keywords import translate
from .surroundings import Surroundings

_WORDS = {"true": True, "false": False, "none": None}
_BOOLEAN = "string_to_bool"
"""The name of what reads truth values; such an option needs a value today, unless it is False."""
_FROM_FILE = "_patchkit_kept"
"""The attribute of a parser for what its file of settings keeps for the results."""


def flags(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Bring the flags of a command line to today's."""
    parser, given = call.instance, call.arguments.get("args")
    words = [str(word) for word in (sys.argv[1:] if given is None else given)]
    options = parser._option_string_actions
    written: list[str] = []
    call.kept_by_results.update(getattr(parser, _FROM_FILE, {}))
    for flag, values in _options(words):
        name, equals, value = flag.partition("=")
        old = name.removeprefix("--").replace("-", "_")
        if name in options:
            written += [flag, *values]
            if not values and not equals and _needs_truth(options[name]):
                written.append("True")
                call.fix(row, name, f"write {name} True")
            continue
        value = _read([value]) if equals else _read(values)
        new = _todays(parser, {old: value}, surroundings, call) if flag.startswith("--") else None
        written += [flag, *values] if new is None else _flags(new)
    if written != words:
        call.arguments["args"] = written


def keys(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Bring the keys of settings to today's."""
    given = call.arguments.get("args")
    if isinstance(given, Mapping):
        new = _todays(call.instance, given, surroundings, call)
        if new is not None:
            call.arguments["args"] = new


def defaults(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Bring the settings of a file, which become a parser's defaults, to today's."""
    new = _todays(call.instance, call.unknown, surroundings, call)
    if new is not None:
        call.unknown = new
        call.kept[_FROM_FILE] = call.kept_by_results
        call.kept_by_results = {}


def _options(words: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Return each flag, and the words behind it."""
    flag, values = "", list[str]()
    for word in words:
        if word.startswith("--"):
            if flag or values:
                yield flag, values
            flag, values = word, []
        elif flag:
            values.append(word)
        else:
            yield word, []
    if flag:
        yield flag, values


def _needs_truth(action: Any) -> bool:
    return action.nargs is None and getattr(action.type, "__name__", "") == _BOOLEAN


def _read(values: list[str]) -> Any:
    """Return what words on a command line stand for; none is True."""
    read = [value_of(word, _WORDS) for word in values]
    return True if not read else read[0] if len(read) == 1 else read


def _flags(settings: Mapping[str, Any]) -> list[str]:
    written: list[str] = []
    for name, value in settings.items():
        if value is not None:
            values = value if isinstance(value, list | tuple) else [value]
            written += [f"--{name}", *(str(getattr(one, "value", one)) for one in values)]
    return written


def _todays(
    parser: Any, given: Mapping[str, Any], surroundings: Surroundings, parsing: Call
) -> dict[str, Any] | None:
    """Return settings by today's names; None if they have them.

    What is kept for scripts that read it is noted in the call of the parser.
    """
    kinds: list[Any] = list(filter(dataclasses.is_dataclass, parser.dataclass_types))
    known = {field.name for kind in kinds for field in _fields(kind)}
    settings = dict(given)
    for kind in kinds:
        rows = surroundings.due.methods_of(kind).get("__init__")
        old = set() if rows is None else rows.keywords.keys() & settings.keys() - known
        if rows is None or not old:
            continue
        own = {field.name for field in _fields(kind)} | old
        call = Call(
            Method(_with_constructor(kind), "__init__"),
            kind,
            (),
            {name: settings.pop(name) for name in list(settings) if name in own},
            surroundings.journal,
        )
        translate(call, rows.keywords)
        settings |= {**call.arguments, **call.unknown}
        parsing.kept_by_results.setdefault(kind, {}).update(call.kept)
    return None if settings.keys() == given.keys() else settings


def _fields(kind: Any) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(kind)


def _with_constructor(kind: type) -> type:
    return next(owner for owner in kind.__mro__ if "__init__" in vars(owner))

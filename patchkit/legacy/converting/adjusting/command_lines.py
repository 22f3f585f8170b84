"""Parsers of command lines and files of settings: old names, and fields that two classes have."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...changes import Adjusted, Behaviour
from ...guarding.classes import belongs_to_a_library
from ...guarding.guard import GuardedMethod
from ...uses import Kind
from ..call import OldCall, Surroundings
from ..keywords import translate

_WORDS = {"true": True, "false": False, "none": None}
_BOOLEAN = "string_to_bool"
"""The name of the function that reads truth values; a flag with it needs a value today."""
_FROM_FILE = "_patchkit_kept"
"""The attribute of a parser for what its file of settings keeps for the results."""
_STRICT, _UNKNOWN = "fail_with_unknown_args", "Unknown arguments from config file"
_CONFIG = "config"
_NAMES = "_patchkit_names"
"""The attribute of a parser for the names that a file of settings may have."""
_Field = dataclasses.Field[Any]


def flags(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Replace the old flags of a command line by the current ones."""
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
        new = (
            _current_settings(parser, {old: value}, surroundings, call)
            if flag.startswith("--")
            else None
        )
        written += [flag, *values] if new is None else _flags(new)
    if written != words:
        call.arguments["args"] = written


def keys(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Replace the old keys of settings by the current ones."""
    given = call.arguments.get("args")
    if isinstance(given, Mapping):
        new = _current_settings(call.instance, given, surroundings, call)
        if new is not None:
            call.arguments["args"] = new


def defaults(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Replace old names in the settings of a file, which become the defaults of a parser."""
    vars(call.instance)[_NAMES] = _known_names(call.instance, surroundings)
    new = _current_settings(call.instance, call.unknown, surroundings, call)
    if new is not None:
        call.unknown = new
        call.kept[_FROM_FILE] = call.kept_by_results
        call.kept_by_results = {}


def _known_names(parser: Any, surroundings: Surroundings) -> set[str]:
    """Return the fields of a parser's dataclasses, by their old names, too."""
    names: set[str] = set()
    classes: list[Any] = list(filter(dataclasses.is_dataclass, parser.dataclass_types))
    for cls in classes:
        rows = surroundings.due.methods_of(cls).get("__init__")
        names.update(field.name for field in dataclasses.fields(cls))
        names.update(rows.keywords if rows is not None else ())
    return names


def unknown_keys(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Pass over keys of a file of settings that no field has, and name them."""
    try:
        return proceed()
    except ValueError as error:
        if _STRICT in call.arguments or not str(error).startswith(_UNKNOWN):
            raise
        found = re.findall(r"'--(\w+)'", str(error))
    names = vars(call.instance).get(_NAMES, ())
    for key in found:
        meant = [name for name in names if name.startswith(key)]
        advice = "leave it out: it was passed over"
        if len(meant) == 1:
            advice += f"; or write {meant[0]}, if that is meant"
        call.fix(row, f"the key {key} in a file of settings", advice)
    call.arguments[_STRICT] = False
    return proceed()


def field_of_the_file(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Let a script's dataclass have a field `config`, which keeps its default, as it did."""
    given = call.arguments.get("dataclass_types") or ()
    classes = given if isinstance(given, Iterable) else (given,)
    own = [cls.__dataclass_fields__ for cls in classes if _CONFIG in cls.__dataclass_fields__]
    if not own:
        return proceed()
    call.fix(row, f"{call.name} of a class with a field {_CONFIG}", "leave the field out")
    taken = [each.pop(_CONFIG) for each in own]
    try:
        result = proceed()
    finally:
        for each, field in zip(own, taken, strict=True):
            each[_CONFIG] = field
    default = taken[0].default
    call.instance.set_defaults(config=None if default is dataclasses.MISSING else default)
    return result


def _options(words: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each flag, and the words behind it."""
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


def _word(value: Any) -> str:
    """Return a value as a word of a command line; dataclasses read dictionaries as JSON."""
    return json.dumps(value) if isinstance(value, dict) else str(getattr(value, "value", value))


def value_of(word: str, names: Mapping[str, Any]) -> Any:
    """Return the value of a word: what `names` has for it, a number, or the word.

    Args:
        word: as the shell gives it.
        names: words in lower case that stand for something else.
    """
    if word.lower() in names:
        return names[word.lower()]
    for number in (int, float):
        try:
            return number(word)
        except ValueError:
            pass
    return word


def _needs_truth(action: Any) -> bool:
    return action.nargs is None and getattr(action.type, "__name__", "") == _BOOLEAN


def _read(values: list[str]) -> Any:
    """Return the value of words on a command line; True if there are none."""
    read = [value_of(word, _WORDS) for word in values]
    return True if not read else read[0] if len(read) == 1 else read


def _flags(settings: Mapping[str, Any]) -> list[str]:
    written: list[str] = []
    for name, value in settings.items():
        if value is not None:
            values = value if isinstance(value, list | tuple) else [value]
            written += [f"--{name}", *map(_word, values)]
    return written


def _current_settings(
    parser: Any, given: Mapping[str, Any], surroundings: Surroundings, parsing: OldCall
) -> dict[str, Any] | None:
    """Return settings by their current names; None if they have these already.

    Attributes that scripts read are noted in the call of the parser.
    """
    classes: list[Any] = list(filter(dataclasses.is_dataclass, parser.dataclass_types))
    known = {field.name for cls in classes for field in dataclasses.fields(cls)}
    settings = dict(given)
    for cls in classes:
        rows = surroundings.due.methods_of(cls).get("__init__")
        old = set() if rows is None else rows.keywords.keys() & settings.keys() - known
        if rows is None or not old:
            continue
        own = {field.name for field in dataclasses.fields(cls)} | old
        owner = next(base for base in cls.__mro__ if "__init__" in vars(base))
        call = OldCall(
            GuardedMethod(owner, "__init__"),
            cls,
            (),
            {name: settings.pop(name) for name in list(settings) if name in own},
            surroundings.journal,
        )
        translate(call, rows.keywords)
        settings |= {**call.arguments, **call.unknown}
        parsing.kept_by_results.setdefault(cls, {}).update(call.kept)
    return None if settings.keys() == given.keys() else settings


def scripts_own_first(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Hide a field of a library's dataclass from a parser if a class of the script's has it, too.

    A flag that two dataclasses have is an error. The call is one of the parser's constructor, or of
    a method that makes objects of dataclasses.
    """
    is_constructor = call.method.name == "__init__"
    if is_constructor:
        classes = call.arguments.get("dataclass_types")
        if classes is None:
            return proceed()
        classes = list(classes) if isinstance(classes, Iterable) else [classes]
        call.arguments["dataclass_types"] = classes
    else:
        classes = call.instance.dataclass_types
    twice = list(_had_twice([cls for cls in classes if dataclasses.is_dataclass(cls)]))
    if is_constructor:
        for field, library, own in twice:
            name = field.name
            call.tell(
                row,
                f"{own.__name__}.{name}",
                f"{own.__name__} and {library.__name__} both have {name}; --{name} stays that of "
                f"{own.__name__}, as when {library.__name__} had none; give it another name",
                Kind.FIXED,
            )
    with _left_out([field for field, _, _ in twice]):
        return proceed()


def _had_twice(classes: list[Any]) -> Iterator[tuple[_Field, type, type]]:
    """Yield each field of a library's that a class of the script's has, too, and both classes."""
    for cls in classes:
        for field in dataclasses.fields(cls):
            library = _definer(cls, field.name)
            others = (other for other in classes if other is not cls)
            own = next(
                (other for other in others if field.name in other.__dataclass_fields__), None
            )
            if own is None or not belongs_to_a_library(library):
                continue
            if not belongs_to_a_library(_definer(own, field.name)):
                yield field, library, own


def _definer(cls: type, name: str) -> type:
    return next(base for base in cls.__mro__ if name in vars(base).get("__annotations__", ()))


@contextmanager
def _left_out(fields: list[_Field]) -> Iterator[None]:
    """Hide fields from a parser, which looks at those that a constructor takes."""
    taken = [field for field in fields if field.init]
    for field in taken:
        field.init = False
    try:
        yield
    finally:
        for field in taken:
            field.init = True

"""Fields that a script declares in its own configurations by their old names."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

from ...rewrite.codes import nested_codes
from ...whose import Whose, owner_of_class, owner_of_file
from ..guarding.classes import belongs_to_a_library, functions_of, own_classes
from ..versions.due import MethodRows
from .call import OldCall
from .defaults import chosen
from .keywords import current_arguments

Fields = Mapping[str, "dataclasses.Field[Any]"]


def redeclared(cls: Any) -> Fields:
    """Return the fields that classes of nobody's but the libraries' declare, new or not."""
    inherited = {
        id(known)
        for owner in cls.__mro__
        if belongs_to_a_library(owner) and dataclasses.is_dataclass(owner)
        for known in dataclasses.fields(owner)
    }
    return {
        known.name: known
        for known in dataclasses.fields(cls)
        if known.init and id(known) not in inherited
    }


def left_to_the_layer(cls: Any, own: Fields) -> Fields:
    """Return the fields that only give a field of an older release another default.

    What a class of the script's itself reads is its own: it moves the value to where it belongs
    today. So is what a framework declares.

    Args:
        cls: a dataclass.
        own: the fields that no library declares.
    """
    read = set(_read_names(cls))
    return {
        name: known
        for name, known in own.items()
        if name not in read and owner_of_class(_declaring(cls, known)).whose is Whose.USER
    }


def _declaring(cls: type, field: dataclasses.Field[Any]) -> type:
    having = (
        base
        for base in cls.__mro__
        if vars(base).get("__dataclass_fields__", {}).get(field.name) is field
    )
    return list(having)[-1]


def _read_names(cls: type) -> Iterator[str]:
    """Yield the names and texts in methods of classes that no library defines.

    Those in functions that the methods name are among them.
    """
    owners = own_classes(cls, of_frameworks=True)
    functions = [function for owner in owners for function in functions_of(owner)]
    seen: set[FunctionType] = set()
    while functions:
        function = functions.pop()
        if function in seen:
            continue
        seen.add(function)
        for code in nested_codes(function.__code__):
            named = list(_named(code.co_names, function.__globals__))
            yield from code.co_names
            yield from _texts([*code.co_consts, *named])
            functions += (value for value in named if isinstance(value, FunctionType))


def _named(names: Iterable[str], namespace: Mapping[str, Any]) -> Iterator[Any]:
    """Yield what names stand for in a module, and functions that are not the libraries'."""
    for name in names:
        value = namespace.get(name)
        if isinstance(value, ModuleType):
            yield from _named((other for other in names if other != name), vars(value))
        elif not isinstance(value, FunctionType) or (
            owner_of_file(value.__code__.co_filename).whose in (Whose.USER, Whose.FRAMEWORK)
        ):
            yield value


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in constants, and in tables that are made of such."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (tuple, list, set, frozenset, dict)):
        for part in value:
            yield from _texts(part)
        yield from _texts(list(value.values())) if isinstance(value, dict) else ()


def own_rows(rows: MethodRows, own: Fields) -> MethodRows:
    """Return the rows for a constructor without those for defaults that a script declares."""
    found = copy.copy(rows)
    found.defaults = {name: row for name, row in rows.defaults.items() if name not in own}
    return found


def convert_redeclared_fields(call: OldCall, rows: MethodRows, own: Fields) -> None:
    """Give current keywords the values of fields that the script declares by their old names.

    The fields themselves stay as they are, since the script reads them.

    Raises:
        LegacyError: a value has no meaning today.
    """
    given = chosen(call)
    for name in own.keys() & rows.keywords.keys():
        value = _value(call, own[name])
        if value is dataclasses.MISSING:
            continue
        for new, new_value in current_arguments(call, rows.keywords[name], value, {}).items():
            if new not in given and new not in own:
                call.arguments[new] = new_value
    for row in rows.values:
        if row.name in own and _value(call, own[row.name]) == row.value:
            call.arguments[row.name] = row.value


def _value(call: OldCall, field: dataclasses.Field[Any]) -> Any:
    """Return the value that a field will have; MISSING if that is known only when it is made."""
    return call.arguments.get(field.name, field.default)

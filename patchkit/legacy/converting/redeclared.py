"""Fields that a script declares in its own configurations by their old names."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ..guarding.classes import belongs_to_a_library
from ..versions.due import MethodRows
from .call import OldCall
from .defaults import chosen
from .keywords import current_arguments

Fields = Mapping[str, "dataclasses.Field[Any]"]


def redeclared(cls: Any) -> Fields:
    """Return the fields that a script's classes declare, whether the library's has them or not."""
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


def own_rows(rows: MethodRows, own: Fields) -> MethodRows:
    """Return the rows for a constructor without those for defaults that a script declares."""
    kept = {name: row for name, row in rows.defaults.items() if name not in own}
    return dataclasses.replace(rows, defaults=kept)


def concerns(rows: MethodRows, own: Fields) -> bool:
    """Tell whether a script declares a field that a row is about."""
    return not own.keys().isdisjoint({*rows.keywords, *(row.name for row in rows.values)})


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

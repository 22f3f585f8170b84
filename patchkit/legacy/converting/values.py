"""Bring the values of a call to today's spelling."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from ..changes import Value
from .call import Call


def rename_values(call: Call, rows: Iterable[Value]) -> None:
    """Replace values that have another name today; those in a list, too.

    Args:
        call: the call; its arguments change.
        rows: what the table knows.

    Raises:
        LegacyError: a value has no counterpart.
    """
    for row in rows:
        if row.name not in call.arguments:
            continue
        given = call.arguments[row.name]
        if isinstance(given, list | tuple):
            if any(_is(value, row) for value in given):
                call.arguments[row.name] = [
                    _today(call, row) if _is(value, row) else value for value in given
                ]
        elif _is(given, row):
            call.arguments[row.name] = _today(call, row)


def _is(value: Any, row: Value) -> bool:
    return bool((value.value if isinstance(value, Enum) else value) == row.value)


def _today(call: Call, row: Value) -> str:
    old = f"{call.name}({row.name}={row.value!r})"
    if not row.to:
        raise call.refuse(row, old, row.instead)
    call.fix(row, old, f"write {row.name}={row.to!r}")
    return row.to

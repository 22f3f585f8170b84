"""Bring the values of a call to current names."""

from __future__ import annotations

from collections.abc import Iterable

from ..changes import Value
from ..decisions import decide_value
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
        if row.name in call.arguments:
            decision = decide_value(row, call.arguments[row.name])
            if decision is not None:
                call.settle(row, decision, f"{call.name}({row.name}={row.value!r})")
                call.arguments.update(decision.arguments)

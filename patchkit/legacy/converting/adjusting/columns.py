"""Columns of datasets, which were lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...changes import Adjusted
from ..call import Call
from .surroundings import Surroundings

_COLUMN = "Column"


def has_column(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Tell whether a call is given a column; quick, since every call of a tokenizer asks."""
    for value in (*args, *kwargs.values()):  # noqa: SIM110
        if _is_column(value):
            return True
    return False


def listed(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Make lists of columns, which tokenizers do not take."""
    for arguments in (call.arguments, call.unknown):
        for name, value in arguments.items():
            if _is_column(value):
                arguments[name] = value[:]
                call.fix(
                    row,
                    f"{call.name} with a column of a dataset",
                    f"write list(dataset[{value.column_name!r}])",
                )


def _is_column(value: Any) -> bool:
    kind = type(value)
    return kind.__name__ == _COLUMN and kind.__module__.startswith("datasets.")

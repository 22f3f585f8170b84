"""Columns of a dataset as lists, as they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .call import Call
from .changes import Behaviour
from .uses import called_by_user

_DECODED = frozenset({"Audio", "Image", "Pdf", "Video"})
"""Features whose values take much room, and are read one by one for that."""


def names_column(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Tell whether the arguments of `Dataset.__getitem__` name a column."""
    return len(args) == 1 and isinstance(args[0], str)


def give_list(call: Call, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Give all values of a column at once.

    Libraries expect today's, and a column of images or sounds is left as it is.

    Args:
        call: a call of `Dataset.__getitem__`.
        row: the row of the table.
        proceed: carries it out.
    """
    column = proceed()
    if type(column).__name__ != "Column" or not called_by_user():
        return column
    if type(column.features).__name__ in _DECODED:
        return column
    old = f"dataset[{column.column_name!r}]"
    call.mend(row, f"{old} as a list", f"write {old}[:] where a list is needed")
    return column[:]

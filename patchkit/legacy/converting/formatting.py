"""Formatting functions that return a list of texts for a batch of rows, as they had to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..changes import Behaviour
from ..errors import LegacyError
from .call import OldCall

Formatting = Callable[[Mapping[str, Any]], Any]


def format_each_row(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Let a formatting function that returns lists format the rows of `_prepare_dataset`."""
    function = call.arguments.get("formatting_func")
    if function is None:
        return proceed()
    wrapped = call.arguments["formatting_func"] = OneText(function)
    prepared = proceed()
    if wrapped.was_batched:
        call.fix(row, name_in_messages(call), ADVICE)
    return prepared


def name_in_messages(call: OldCall) -> str:
    """Return how messages name a formatting function that returns lists."""
    return f"{type(call.instance).__name__}(formatting_func=) that returns a list for a batch"


ADVICE = "return one text for one row"


class OneText:
    """A formatting function that returns one text for a row, whatever it was written for.

    It is called as often as the trainer calls it, and once more for a row that it fails on.
    """

    def __init__(self, function: Formatting) -> None:
        self._function = function
        self.was_batched = False

    def __call__(self, row: Mapping[str, Any]) -> Any:
        try:
            made = self._function(row)
        except Exception:
            texts = in_batch(self._function, row)
            if texts is None:
                raise
        else:
            if not isinstance(made, list):
                return made
            texts = in_batch(self._function, row)
            if (
                texts is not None
                and len(texts) == len(made) == 1
                and any(repr([value]) in str(texts[0]) for value in row.values())
            ):
                texts = made  # the function makes one text of a row, and prints lists otherwise
        self.was_batched = True
        if texts is None or len(texts) != 1:
            raise LegacyError(
                f"formatting_func= returns {'no' if texts is None else len(texts)} texts for a "
                f"batch of one row; {ADVICE}"
            )
        return texts[0]


def in_batch(function: Formatting, row: Mapping[str, Any]) -> list[Any] | None:
    """Return the list that a formatting function makes of a batch of one row; None if none."""
    try:
        made = function({name: [value] for name, value in row.items()})
    except Exception:
        return None
    return made if isinstance(made, list) else None

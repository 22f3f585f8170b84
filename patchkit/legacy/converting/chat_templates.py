"""The type that `apply_chat_template` returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..changes import Adjusted, Behaviour
from ..uses import called_by_library, calling_frame
from ..wording import release
from .call import OldCall, Surroundings

_NAME = "apply_chat_template"
_IDS = "input_ids"
_CURRENT = "BatchEncoding"
_MARK = "_came_from_chat_template"


def give_ids(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Apply a chat template, and return the ids alone to scripts that expect that.

    Libraries expect the current type, and so do scripts that use one of its names.
    """
    tokenizes = call.arguments.get("tokenize", True)
    if not tokenizes or "return_dict" in call.arguments or called_by_library():
        return proceed()
    if call.written_for is not None:
        if call.written_for.precedes(row.gone):
            call.arguments["return_dict"] = False
        return proceed()
    result = proceed()
    from .read_as_ids import reads_ids

    frame = calling_frame()
    is_read = None if frame is None else reads_ids(frame, _NAME, result)
    if is_read:
        call.fix(row, f"{_NAME}(tokenize=True) that gives ids", "write return_dict=False")
        return result[_IDS]
    if is_read is None:
        call.tell(
            row,
            _NAME,
            f"{_NAME}(tokenize=True) gives a {type(result).__name__}, and gave the ids alone "
            f"until {release(row.gone)}; write return_dict=False to have them",
        )
        vars(result)[_MARK] = True
    return result


def were_ids(value: Any) -> bool:
    """Tell whether a value came from a chat template, and its script may expect ids."""
    return type(value).__name__ == _CURRENT and _MARK in vars(value)


def attribute_of_ids(name: str, value: Any) -> Any:
    """Return an attribute of the ids.

    Raises:
        AttributeError: it came from no chat template.
    """
    if not were_ids(value):
        raise AttributeError  # as today
    return getattr(value[_IDS], name)


def given_ids(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Tell whether an argument of a call is such a value."""
    return any(map(were_ids, args)) or any(map(were_ids, kwargs.values()))


def pass_ids(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Pass the ids of such values."""
    for arguments in (call.arguments, call.unknown):
        for name, value in arguments.items():
            if were_ids(value):
                arguments[name] = value[_IDS]
                call.fix(
                    row,
                    f"{call.method.name}() with what {_NAME}() gives",
                    f"write return_dict=False in {_NAME}()",
                )

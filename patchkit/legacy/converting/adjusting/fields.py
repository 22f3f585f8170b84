"""Fields of models' configurations, which took values of any type."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import FrameType, UnionType
from typing import Any, Union, get_args, get_origin

from ....whose import Whose, owner_of_frame
from ...changes import Adjusted
from ..call import OldCall, Surroundings

_SETTING = "__strict_setattr__"


def may_differ(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Tell whether a value may have another type than is expected of a field."""
    if len(args) != 3:
        return True
    _, value, expected = args
    types = get_args(expected) if get_origin(expected) in (Union, UnionType) else (expected,)
    return type(value) not in types


def take_any_type(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Let a model's configuration hold a value of another type than its field says."""
    config = _configuration(sys._getframe(1))
    if config is None:
        return
    try:
        call.method.call(None, **call.arguments)
    except TypeError as error:
        name, value = call.arguments["name"], call.arguments["value"]
        call.arguments["expected_type"] = Any
        reason = " ".join(str(error).partition("Errors:")[0].split())
        old = f"{type(config).__name__}.{name} of type {type(value).__name__}"
        call.fix(row, old, f"write another value: {reason}")


def _configuration(frame: FrameType | None) -> Any:
    """Return the model's configuration that a value is set in; None if it is a part of one."""
    from transformers import PreTrainedConfig

    while frame is not None and owner_of_frame(frame).whose is Whose.OURS:
        frame = frame.f_back
    above = frame.f_back if frame is not None else None
    if above is None or above.f_code.co_name != _SETTING:
        return None
    config = above.f_locals.get("self")
    return config if isinstance(config, PreTrainedConfig) else None

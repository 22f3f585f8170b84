"""Scaling of rotary embeddings that is set on a configuration, as it was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .call import Call
from .changes import Behaviour

_THETA = "rope_theta"


def keep_theta(call: Call, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Let a configuration keep its `rope_theta`, which had a place of its own.

    Args:
        call: a call of what sets `PreTrainedConfig.rope_scaling`.
        row: the row of the table.
        proceed: carries it out.
    """
    former = getattr(call.instance, "rope_parameters", None) or {}
    value = call.arguments.get("value")
    if _THETA in former and (value is None or (isinstance(value, dict) and _THETA not in value)):
        whole = {**(value or {"rope_type": "default"}), _THETA: former[_THETA]}
        call.arguments["value"] = whole
        old = f"{type(call.instance).__name__}.rope_scaling = {value!r}"
        call.mend(row, old, f"write rope_parameters = {whole!r}")
    return proceed()


def theta(configuration: Any) -> Any:
    """Return the `rope_theta` of a configuration that has one for all layers.

    Raises:
        AttributeError: it has none.
    """
    parameters = getattr(configuration, "rope_parameters", None)
    if not isinstance(parameters, dict) or _THETA not in parameters:
        raise AttributeError(f"{type(configuration).__name__!r} object has no attribute {_THETA!r}")
    return parameters[_THETA]

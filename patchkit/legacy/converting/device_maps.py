"""The device map of a model that is on one device, which models had and today's have not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..changes import Behaviour
from ..uses import calling_package
from .call import OldCall

_MAP = "hf_device_map"
_REMEMBERED = "_patchkit_device_map"
_SHARED_OUT = frozenset({"auto", "balanced", "balanced_low_0", "sequential"})


def remember_device(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Load a model, and remember the device that the script asked for."""
    asked = {**call.arguments, **call.unknown}.get("device_map")
    result = proceed()
    if asked is None or calling_package() == "transformers":
        return result
    model = result[0] if isinstance(result, tuple) else result
    if _MAP not in vars(model):
        setattr(model, _REMEMBERED, _as_map(asked, model))
    return result


def device_map(model: Any) -> dict[str, Any]:
    """Return the device map of a model.

    Raises:
        AttributeError: it was loaded without one, and had none.
    """
    if _REMEMBERED not in vars(model):
        raise AttributeError(f"{type(model).__name__!r} object has no attribute {_MAP!r}")
    remembered: dict[str, Any] = vars(model)[_REMEMBERED]
    return remembered


def _as_map(asked: Any, model: Any) -> dict[str, Any]:
    import torch

    if isinstance(asked, dict):
        return dict(asked)
    if not isinstance(asked, str):
        return {"": asked}
    if asked not in _SHARED_OUT:
        return {"": torch.device(asked)}
    device = model.device
    return {"": device.type if device.index is None else device.index}

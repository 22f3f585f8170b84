"""The dtype of a model that is loaded without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..changes import Behaviour
from ..uses import calling_package
from ..wording import release
from .call import Call

_NAMES = ("dtype", "torch_dtype")


def give_dtype(call: Call, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Load a model in the dtype of the release that the script was written for.

    If none is named, tell if the model is not in float32, as it was.

    Args:
        call: a call of `from_pretrained`.
        row: the row of the table.
        proceed: carries it out.
    """
    given = {**call.arguments, **call.unknown}
    if calling_package() == "transformers" or any(given.get(name) is not None for name in _NAMES):
        return proceed()
    quantized = given.get("quantization_config") is not None
    if call.written_for is not None:
        if call.written_for.precedes(row.gone):
            for name in _NAMES:
                call.unknown.pop(name, None)
            # What stays unquantized was in float16.
            call.unknown["dtype"] = _dtype("float16" if quantized else "float32")
        return proceed()
    result = proceed()
    model = result[0] if isinstance(result, tuple) else result
    loaded = getattr(model, "dtype", None)
    was = "float16" if quantized else "float32"
    if loaded is not None and loaded.is_floating_point and loaded != _dtype(was):
        what = "what is not quantized" if quantized else "the model"
        call.tell(
            row,
            call.name,
            f"{call.name} without dtype= loads {what} in {str(loaded).removeprefix('torch.')}, as "
            f"the checkpoint has it, and did in {was} until {release(row.gone)}; write "
            f"dtype=torch.{was} to keep that",
        )
    return result


def _dtype(name: str) -> Any:
    import torch

    return getattr(torch, name)

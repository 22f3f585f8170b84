"""The input of a NeMo Automodel LoRA layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from patchkit.precision.parameters import is_plain_float

if TYPE_CHECKING:
    import torch


def in_dtype_of_layer(layer: Any, x: torch.Tensor) -> torch.Tensor:
    """Cast the input of a `LinearLoRA` to the dtype that the layer computes in; its output follows.

    That is the dtype of the base weight, or, where the base is quantized, that of the adapter.

    Args:
        layer: a `LinearLoRA`, or a linear layer that was patched to be one.
        x: its input, of whatever dtype.

    Returns:
        the input itself where there is nothing to cast, or it is not made of floats.
    """
    if not x.is_floating_point():
        return x
    packed = not is_plain_float(layer.weight) or layer.weight.itemsize < 2
    weight = layer.lora_A.weight if packed else layer.weight
    return x.to(weight.dtype)

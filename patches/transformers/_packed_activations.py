"""The dtype that the activations of a layer with a packed weight have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from patchkit.precision.quant_state import dtype_of

if TYPE_CHECKING:
    import torch


def activation_dtype(weight: Any, layer: Any = None) -> torch.dtype | None:
    """Return the dtype that a weight had before it was packed.

    Args:
        weight: a packed weight.
        layer: what it belongs to, if known: a layer, or an adapter's layer around one.

    Returns:
        what a 4-bit weight dequantizes to. Nothing else records it: then the dtype of a bias in
        half precision, or None, with which `Tensor.to` casts nothing.
    """
    state = getattr(weight, "quant_state", None)
    if state is not None:
        return dtype_of(state)
    bias: Any = getattr(layer, "bias", None)
    in_half = bias is not None and bias.is_floating_point() and bias.itemsize == 2
    return bias.dtype if in_half else None

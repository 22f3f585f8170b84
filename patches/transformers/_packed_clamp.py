"""Clamp the values of a weight that bitsandbytes has packed."""

from __future__ import annotations

from typing import Any

from patchkit.precision.quant_state import scales_of_8bit, values_of_4bit, values_of_8bit

_CLAMPED = "_patchkit_clamped_to"
_LARGEST_CODE = 127


def clamp_packed(layer: Any, low: float, high: float) -> bool:
    """Clamp the values of a quantized layer's weight in place.

    A packed weight is not trained, so it is looked at once: to look makes a GPU wait. One whose
    values are within the bounds is left as it is, bit for bit. Otherwise the clamped values are
    quantized again, with what that rounds.

    Args:
        layer: a 4-bit or 8-bit layer of bitsandbytes, or an adapter's layer around one.
        low: the lower bound, negative.
        high: the upper bound, positive.

    Returns:
        whether the weight is packed; any other is not touched.
    """
    while hasattr(layer, "base_layer"):
        layer = layer.base_layer
    weight = layer.weight
    if getattr(weight, "quant_state", None) is not None:
        clamp = _clamp_4bit
    elif scales_of_8bit(layer) is not None:
        clamp = _clamp_8bit
    else:
        return False
    if getattr(weight, _CLAMPED, None) != (low, high):
        clamp(layer, low, high)
        setattr(weight, _CLAMPED, (low, high))
    return True


def _clamp_4bit(layer: Any, low: float, high: float) -> None:
    import torch
    from bitsandbytes import functional

    weight = layer.weight
    values = values_of_4bit(weight)
    state = weight.quant_state
    clamped = values.clamp(low, high)
    if torch.equal(clamped, values):
        return
    data, new = functional.quantize_4bit(
        clamped,
        blocksize=state.blocksize,
        compress_statistics=state.nested,
        quant_type=state.quant_type,
        quant_storage=weight.dtype,
    )
    weight.data = data.reshape(weight.shape)
    # The layer may hold the same state.
    state.absmax, state.offset, state.state2 = new.absmax, new.offset, new.state2


def _clamp_8bit(layer: Any, low: float, high: float) -> None:
    import torch

    scales, values = scales_of_8bit(layer), values_of_8bit(layer)
    assert scales is not None
    assert values is not None
    clamped = values.clamp(low, high)
    if torch.equal(clamped, values):
        return
    scales.clamp_(max=max(-low, high))
    codes = (clamped * _LARGEST_CODE / scales[:, None]).nan_to_num().round()
    for held in (layer.weight.data, layer.weight.CB, layer.state.CB):
        if held is not None:
            held.copy_(codes)

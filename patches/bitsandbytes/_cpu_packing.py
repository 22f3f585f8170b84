"""4-bit weights that bitsandbytes repacks for inference on a CPU, and the way back.

Repacking shuffles the 4-bit numbers, which can be undone, and rounds the scales of their blocks to
bfloat16, which cannot: the scales as they were are kept beside the packed ones.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from patchkit.precision.quant_state import is_repacked, unpack_in_place

if TYPE_CHECKING:
    import torch

ORIGINALS = "patchkit_before_packing"
"""Attribute of a packed quant state: its fields as they were, by their names."""

FIELDS = ("absmax", "nested", "offset", "state2")
"""Fields that packing changes for good."""


def restore_scales(state: Any) -> Any:
    """Give an unpacked quant state the very scales that it had, if they were saved.

    Returns:
        the quant state itself.
    """
    before = vars(state).pop(ORIGINALS, None)
    if before is not None:
        device = state.absmax.device
        vars(state).update(before)
        if state.absmax.device != device:
            state.to(device)
    return state


def unpacked_copy(weight: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
    """Return unpacked copies of packed numbers and their quant state, to dequantize them.

    Args:
        weight: packed 4-bit numbers, or a transposed view of them.
        state: their quant state.
    """
    from bitsandbytes.functional import _convert_weight_packed_for_cpu_inverse as inverse

    straight = weight.is_contiguous()
    unpacked_weight, unpacked_state = inverse(weight if straight else weight.t(), copy.copy(state))
    return (unpacked_weight if straight else unpacked_weight.t()), unpacked_state


def move_quant_state(weight: Any, device: Any) -> None:
    """Move the quant state of a 4-bit weight; one for a device other than a CPU is unpacked first.

    Args:
        weight: a `Params4bit`.
        device: where to, or None.
    """
    if device is not None and device.type != "cpu" and is_repacked(weight.quant_state):
        unpack_in_place(weight)
    weight.quant_state.to(device)

"""What the numbers of a tensor are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def is_plain_float(tensor: torch.Tensor) -> bool:
    """Whether the numbers of a tensor are what its dtype says.

    bitsandbytes may pack quantized weights into a floating dtype (`bnb_4bit_quant_storage`): those
    bytes must not be cast.
    """
    packed = hasattr(tensor, "quant_state") or hasattr(tensor, "SCB")
    return tensor.is_floating_point() and not packed

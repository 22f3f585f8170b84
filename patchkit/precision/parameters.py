"""Tell plain tensors from packed ones, and cast a tensor in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def is_plain_float(tensor: torch.Tensor) -> bool:
    """Tell whether a tensor holds floating-point numbers of its dtype, not packed bytes.

    bitsandbytes may pack quantized weights into a floating dtype (`bnb_4bit_quant_storage`): those
    bytes must not be cast.
    """
    packed = hasattr(tensor, "quant_state") or hasattr(tensor, "SCB")
    return tensor.is_floating_point() and not packed


def cast_in_place(tensor: torch.Tensor, dtype: torch.dtype) -> None:
    """Replace the data, not the tensor: optimizers and tied weights hold the object."""
    gradient = tensor.grad if tensor.requires_grad else None
    if gradient is not None:
        tensor.grad = None
    tensor.data = tensor.data.to(dtype)
    if gradient is not None:
        tensor.grad = gradient.to(dtype)

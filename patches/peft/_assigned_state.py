"""Tensors that take the place of those in a model, rather than being copied into them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from patchkit.precision.parameters import is_plain_float

if TYPE_CHECKING:
    import torch


def cast_like_model(
    state: Mapping[str, torch.Tensor], model: torch.nn.Module
) -> dict[str, torch.Tensor]:
    """Cast and move the tensors of a state to match those that they replace.

    Tensors that replace one on the meta device stay as they are, and so do those of quantized
    weights and those that the model does not have.

    Args:
        state: tensors by the model's names.
        model: what they are about to be assigned to.
    """
    current = {
        **dict(model.named_buffers(remove_duplicate=False)),
        **dict(model.named_parameters(remove_duplicate=False)),
    }
    return {name: _like(tensor, current.get(name)) for name, tensor in state.items()}


def _like(tensor: torch.Tensor, replaced: torch.Tensor | None) -> torch.Tensor:
    if replaced is None or replaced.is_meta:
        return tensor
    if not (is_plain_float(replaced) and tensor.is_floating_point()):
        return tensor
    return tensor.to(replaced.device, replaced.dtype)

"""Plain copies of layers that bitsandbytes has packed, for `modules_to_save` to train."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from patchkit.precision.layer_input import UPCAST
from patchkit.precision.parameters import is_plain_float
from patchkit.precision.quant_state import dtype_of, packed_values, packs_weight, quant_states

if TYPE_CHECKING:
    import torch


def trainable_copy(wrapper: Any) -> torch.nn.Module:
    """Copy the module of a `ModulesToSaveWrapper`, with plain layers in the place of packed ones.

    Args:
        wrapper: the wrapper; its `original_module` stays as it is.

    Returns:
        the copy. If nothing says which dtype the weights had before they were packed, as in 8-bit
        layers without a bias, it is float32, and marked to take and return that of its input.
    """
    original = wrapper.original_module
    module = copy.deepcopy(original)
    if not any(map(_can_be_unpacked, module.modules())):
        return module
    dtype = plain_dtype(original)
    module = _unpacked(module, dtype, wrapper)
    if dtype is None:
        setattr(module, UPCAST, None)
    return module


def train_original(wrapper: Any) -> None:
    """Make the plain parameters of a wrapper's `original_module` require gradients."""
    for parameter in wrapper.original_module.parameters():
        if is_plain_float(parameter):
            parameter.requires_grad_(True)


def plain_dtype(module: torch.nn.Module) -> torch.dtype | None:
    """Return the dtype of plain weights, or that of packed ones before; None if unknown."""
    for parameter in module.parameters():
        if is_plain_float(parameter):
            return parameter.dtype
    states = [state for part in module.modules() for state in quant_states(part)]
    return dtype_of(states[0]) if states else None


def _can_be_unpacked(module: Any) -> bool:
    import torch

    return (
        isinstance(module, torch.nn.Linear)
        and packs_weight(module)
        and module.weight.device.type != "meta"
    )


def _unpacked(module: Any, dtype: torch.dtype | None, wrapper: Any) -> Any:
    if not _can_be_unpacked(module):
        for name, child in module.named_children():
            setattr(module, name, _unpacked(child, dtype, wrapper))
        return module
    import torch

    values = packed_values(module)
    # A layer that was never packed, since its checkpoint did not have it, holds plain values.
    weight = module.weight.data if values is None else values
    with torch.device("meta"):
        plain: Any = torch.nn.Linear(
            module.in_features, module.out_features, bias=module.bias is not None
        )
    plain.weight = torch.nn.Parameter(weight.to(dtype or torch.float32).contiguous())
    if module.bias is not None:
        plain.bias = module.bias
    plain.train(module.training)
    if hasattr(module, "_hf_hook"):
        from accelerate.hooks import add_hook_to_module

        add_hook_to_module(plain, wrapper._create_new_hook(module._hf_hook))
    return plain

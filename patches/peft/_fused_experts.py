"""Experts of a layer that are held in one tensor, which bitsandbytes does not quantize."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from patchkit.precision.parameters import is_plain_float

if TYPE_CHECKING:
    import torch


def parameters_to_upcast(model: torch.nn.Module) -> list[torch.nn.Parameter]:
    """Return the parameters that may become float32 when a model is prepared for training.

    Args:
        model: all parameters of a model that bitsandbytes did not quantize, and all but the fused
            experts of one that it did.
    """
    left = {id(parameter) for parameter in _fused_experts(model)}
    return [parameter for parameter in model.parameters() if id(parameter) not in left]


def _fused_experts(model: torch.nn.Module) -> Iterator[torch.nn.Parameter]:
    """Yield the weights of experts whose code casts what it multiplies them with."""
    if not (getattr(model, "is_loaded_in_4bit", False) or getattr(model, "is_loaded_in_8bit", 0)):
        return
    for module in model.modules():
        config = getattr(module, "config", None)
        # Transformers notes this on modules whose forward it chooses by the configuration.
        if "is_transposed" not in vars(module) or config is None:
            continue
        if getattr(config, "_experts_implementation", None) != "grouped_mm":
            continue
        for parameter in module.parameters(recurse=False):
            if parameter.ndim > 2 and is_plain_float(parameter):
                yield parameter

"""Experts of a layer that are held in one tensor, which bitsandbytes does not quantize."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from patchkit.precision.parameters import is_plain_float

if TYPE_CHECKING:
    import torch


class Upcast:
    """A model whose fused experts are not among its parameters; all else is the model's."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.model = model
        self._left = {id(parameter) for parameter in _fused_experts(model)}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def parameters(self) -> Iterator[torch.nn.Parameter]:
        return (parameter for _, parameter in self.named_parameters())

    def named_parameters(self) -> Iterator[tuple[str, torch.nn.Parameter]]:
        named = self.model.named_parameters()
        return ((name, item) for name, item in named if id(item) not in self._left)


def without_fused_experts(model: torch.nn.Module) -> Upcast:
    """Hide the parameters of a model that stay as they are when it is prepared for training.

    Args:
        model: if bitsandbytes quantized it, its fused experts are hidden, else nothing.
    """
    return Upcast(model)


def with_fused_experts(model: Any) -> Any:
    """Return the whole model again."""
    return model.model if isinstance(model, Upcast) else model


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

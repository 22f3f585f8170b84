"""Recognise layers quantized by libraries other than bitsandbytes, without importing these.

A model that Transformers quantizes carries a quantizer. One that torchao's, HQQ's or quanto's own
function quantized does not, so it is recognised by its layers and tensors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import torch

_OF_TENSORS = {"torchao": "torchao", "optimum": "quanto"}
"""Names of the libraries whose weights are tensors of their own class, by package."""
_OF_LAYERS = {"hqq": "hqq", "gptqmodel": "gptqmodel", "auto_round_extension": "auto-round"}
"""Names of the libraries that replace whole layers, by package."""


class ForeignLayer(NamedTuple):
    """A layer quantized by a library other than bitsandbytes.

    Its dtype is the one in which its weight computes; None if it follows each input.
    """

    name: str
    library: str
    dtype: torch.dtype | None


def foreign_layers(model: torch.nn.Module) -> Iterator[ForeignLayer]:
    """Yield the quantized layers of torchao, quanto, HQQ, GPT-QModel and AutoRound."""
    for name, module in model.named_modules():
        found = foreign_layer(name, module)
        if found is not None:
            yield found


def foreign_layer(name: str, module: torch.nn.Module) -> ForeignLayer | None:
    """Describe a layer that another library has quantized; None for all other layers."""
    weight = module._parameters.get("weight")
    if weight is not None:
        library = _OF_TENSORS.get(_package(weight))
        return None if library is None else ForeignLayer(name, library, weight.dtype)
    library = _OF_LAYERS.get(_package(module))
    if library is None or not _holds_weights(module):
        return None
    return ForeignLayer(name, library, getattr(module, "compute_dtype", None))


def quantizer_of(model: torch.nn.Module) -> str:
    """Return the name of the library that quantized a model; empty for bitsandbytes and none."""
    for module in model.modules():
        method = getattr(getattr(module, "hf_quantizer", None), "quantization_config", None)
        name = str(getattr(getattr(method, "quant_method", None), "value", "bitsandbytes"))
        if not name.startswith("bitsandbytes"):
            return name
    return next((layer.library for layer in foreign_layers(model)), "")


def _package(thing: Any) -> str:
    return type(thing).__module__.partition(".")[0]


def _holds_weights(module: torch.nn.Module) -> bool:
    return "W_q" in module._parameters or "qweight" in module._buffers

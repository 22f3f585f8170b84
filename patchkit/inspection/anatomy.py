"""Examine a model in one pass: its parameters and quantized layers, as the checks need them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ..precision.other_quantizers import ForeignLayer, foreign_layer
from ..precision.parameters import is_plain_float
from ..precision.quant_state import dtype_of, quant_states

if TYPE_CHECKING:
    import torch


_BASES = ("base_layer", "original_module")
"""The names under which layers of PEFT keep the layer that they adapt or copy."""
_COPIED = frozenset({"original_module", "modules_to_save"})


class Parameter(NamedTuple):
    """A parameter, listed once however many modules share it.

    Args:
        name: as in `named_parameters`.
        tensor: the parameter.
        dtype: its dtype, or that of the storage of packed weights.
        trainable: whether it is trained.
        plain: whether it holds floating-point numbers of that dtype, as packed weights do not.
        adapted: name of the adapter layer (with a `base_layer`) that it belongs to; or empty.
        in_base: whether it belongs to the base layer of that layer.
        unit: name of the block that FSDP would put it in; empty for the root.
    """

    name: str
    tensor: torch.Tensor
    dtype: torch.dtype
    trainable: bool
    plain: bool
    adapted: str
    in_base: bool
    unit: str


class QuantizedLayer(NamedTuple):
    """A `Linear4bit` or `Linear8bitLt` of bitsandbytes, with its name in the model."""

    name: str
    module: Any
    bits: int

    @property
    def compute_dtype(self) -> torch.dtype | None:
        """The dtype that a 4-bit layer computes in; None if its first input will decide."""
        dtype: torch.dtype | None = self.module.compute_dtype
        return dtype

    @property
    def state_dtype(self) -> torch.dtype | None:
        """The dtype of a 4-bit layer's weights before packing; None until they are packed."""
        states = quant_states(self.module)
        return dtype_of(states[0]) if states else None


class AdapterLayer(NamedTuple):
    """A layer of PEFT: an adapted layer, or one with trained copies (`modules_to_save`).

    Args:
        name: its name in the model.
        module: PEFT's module, around the layer of the base.
    """

    name: str
    module: Any

    @property
    def off(self) -> bool:
        """Whether the layer was told to compute without adapters."""
        return bool(self.module.__dict__.get("_disable_adapters"))

    @property
    def merged(self) -> bool:
        """Whether adapters are added to the base's weight, and so computed without their own."""
        return bool(self.module.__dict__.get("merged_adapters"))

    @property
    def active(self) -> frozenset[str]:
        """The names of the adapters that take part in a forward pass."""
        names = getattr(self.module, "_active_adapter", "default")
        return frozenset([names] if isinstance(names, str) else names)

    def unused(self) -> Iterator[torch.Tensor]:
        """Yield the adapter weights that a forward pass leaves out."""
        idle, active = self.off or self.merged, self.active
        for key, child in self.module._modules.items():
            if key in _BASES or child is None:
                continue
            for name, tensor in child.named_parameters():
                if idle or name.partition(".")[0] not in active:
                    yield tensor


@dataclass(frozen=True)
class Anatomy:
    """The result of one pass over a model.

    `averaging` names norms with running statistics that PEFT does not save as whole layers.
    """

    parameters: tuple[Parameter, ...] = ()
    quantized: tuple[QuantizedLayer, ...] = ()
    foreign: tuple[ForeignLayer, ...] = ()
    adapters: tuple[AdapterLayer, ...] = ()
    offloaded: frozenset[str] = frozenset()
    averaging: tuple[str, ...] = ()
    modules: int = 0

    @cached_property
    def trainable(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if parameter.trainable)

    @cached_property
    def four_bit(self) -> tuple[QuantizedLayer, ...]:
        return tuple(layer for layer in self.quantized if layer.bits == 4)


def look_at(
    model: torch.nn.Module, blocks: frozenset[str] = frozenset(), *, leaves_apart: bool = False
) -> Anatomy:
    """Walk a model once.

    Args:
        model: any module.
        blocks: names of the classes that FSDP wraps one by one.
        leaves_apart: whether it also wraps each trained leaf separately, as PEFT's policy does.
    """
    parameters: list[Parameter] = []
    quantized: list[QuantizedLayer] = []
    foreign: list[ForeignLayer] = []
    adapters: list[AdapterLayer] = []
    offloaded: set[str] = set()
    averaging: list[str] = []
    bits_of: dict[type, int] = {}
    seen: set[int] = set()
    modules = 0
    for name, module, adapted, in_base, unit in _walk(model, blocks):
        modules += 1
        cls = type(module)
        bits = bits_of.get(cls)
        if bits is None:
            bits = bits_of[cls] = _bits(cls)
        if bits:
            quantized.append(QuantizedLayer(name, module, bits))
        other = None if bits else foreign_layer(name, module)
        if other is not None:
            foreign.append(other)
        if module._modules and (
            "base_layer" in module._modules or "original_module" in module._modules
        ):
            adapters.append(AdapterLayer(name, module))
        averages = module._buffers.get("running_mean") is not None
        if averages and _COPIED.isdisjoint(name.split(".")):
            averaging.append(name)
        if adapted and "_hf_hook" in module.__dict__:
            offloaded.add(adapted)
        if leaves_apart and not module._modules:
            weight = module._parameters.get("weight")
            unit = name if weight is not None and weight.requires_grad else unit
        for key, tensor in module._parameters.items():
            if tensor is None or id(tensor) in seen:
                continue
            seen.add(id(tensor))
            path = f"{name}.{key}" if name else key
            parameters.append(
                Parameter(
                    path,
                    tensor,
                    tensor.dtype,
                    tensor.requires_grad,
                    is_plain_float(tensor) and not (other is not None and key == "weight"),
                    adapted,
                    in_base,
                    unit,
                )
            )
    return Anatomy(
        tuple(parameters),
        tuple(quantized),
        tuple(foreign),
        tuple(adapters),
        frozenset(offloaded),
        tuple(averaging),
        modules,
    )


def _walk(
    model: torch.nn.Module, blocks: frozenset[str]
) -> Iterator[tuple[str, torch.nn.Module, str, bool, str]]:
    """Yield each module once, in the order of `named_modules`."""
    stack: list[tuple[str, Any, str, bool, str]] = [("", model, "", False, "")]
    seen: set[int] = set()
    while stack:
        name, module, adapted, in_base, unit = stack.pop()
        if module is None or id(module) in seen:
            continue
        seen.add(id(module))
        children = module._modules
        if type(module).__name__ in blocks:
            unit = name
        if not in_base and "base_layer" in children:
            adapted = name or type(module).__name__
        yield name, module, adapted, in_base, unit
        prefix = f"{name}." if name else ""
        for key in reversed(children):
            base = in_base or (key == "base_layer" and adapted != "")
            stack.append((prefix + key, children[key], adapted, base, unit))


def _bits(cls: type) -> int:
    """Return 4 or 8 for layers of bitsandbytes, else 0, without importing bitsandbytes."""
    library = sys.modules.get("bitsandbytes")
    nn = getattr(library, "nn", None)
    if nn is None:
        return 0
    if issubclass(cls, nn.Linear4bit):
        return 4
    return 8 if issubclass(cls, nn.Linear8bitLt) else 0

"""Check quantized layers: those of bitsandbytes, and of other libraries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...text import short_list
from .. import repairs, superseding_patches
from ..anatomy import QuantizedLayer
from ..facts import TrainingFacts
from ..findings import Finding, found
from ..wording import OTHER_HALF, dtypes, gibibytes, parameters, plural, precision_setting, short

if TYPE_CHECKING:
    import torch

_RAISE = ("hqq", "quanto")
"""The libraries whose layers raise in a step: most multiply gradients with weights of another dtype
in the backward pass, and quanto's int8 layers in float16 already refuse a bfloat16 input."""


def compute_in_float32(facts: TrainingFacts) -> Finding | None:
    layers = _computing_in(facts, "float32")
    if facts.compute_target not in OTHER_HALF or not layers:
        return None
    later = superseding_patches.TRAINER_COMPUTE_DTYPE in facts.applied and not facts.trainer_made
    return found(
        "compute-dtype-float32 patched-later" if later else "compute-dtype-float32",
        layers=f"{_layer_list(layers)} of {len(facts.anatomy.four_bit)}",
        dtype=facts.compute_target,
        patch=superseding_patches.TRAINER_COMPUTE_DTYPE,
        repair=_thread(facts),
    )


def compute_in_another_dtype(facts: TrainingFacts) -> Finding | None:
    if facts.compute_target not in OTHER_HALF:
        return None
    other = OTHER_HALF[facts.compute_target]
    layers = _computing_in(facts, other)
    if not layers:
        return None
    return found(
        "compute-dtype-other",
        layers=f"{_layer_list(layers)} of {len(facts.anatomy.four_bit)}",
        other=other,
        dtype=facts.compute_target,
        repair=_thread(facts),
    )


def compute_dtype_unset(facts: TrainingFacts) -> Finding | None:
    layers = [layer for layer in facts.anatomy.four_bit if layer.compute_dtype is None]
    if not layers or superseding_patches.FROZEN_COMPUTE_DTYPE in facts.applied:
        return None
    return found(
        "compute-dtype-unset",
        layers=_layer_list(layers),
        dtype=facts.compute_target or "bfloat16",
        repair=_thread(facts),
    )


def quant_state(facts: TrainingFacts) -> Finding | None:
    layers = [
        layer
        for layer in facts.anatomy.four_bit
        if None not in (layer.compute_dtype, layer.state_dtype)
        and layer.state_dtype != layer.compute_dtype
        and short(layer.state_dtype) != facts.compute_target  # otherwise the compute dtype is wrong
    ]
    if not layers:
        return None
    computed = short(layers[0].compute_dtype)
    return found(
        "quant-state-dtype",
        layers=_layer_list(layers),
        states=dtypes(layer.state_dtype for layer in layers),
        computed=dtypes(layer.compute_dtype for layer in layers),
        dtype=facts.compute_target or computed,
        repair=_thread(facts, computed),
    )


def trained_bias(facts: TrainingFacts) -> Finding | None:
    layers = [
        layer
        for layer in facts.anatomy.quantized
        if layer.module.bias is not None and layer.module.bias.requires_grad
    ]
    if not layers or superseding_patches.TRAINED_BIAS in facts.applied:
        return None
    half = facts.mixed_precision is not None or any(
        short(parameter.dtype) in OTHER_HALF
        for parameter in facts.anatomy.parameters
        if parameter.plain
    )
    if not half:
        return None
    return found("quantized-bias-trained", layers=_layer_list(layers, "quantized layer"))


def int8_activations(facts: TrainingFacts) -> Finding | None:
    layers = [
        layer
        for layer in facts.anatomy.quantized
        if layer.bits == 8 and not getattr(getattr(layer.module, "state", None), "threshold", 1.0)
    ]
    wide = facts.mixed_precision == "bfloat16" or any(
        short(parameter.dtype) == "bfloat16"
        for parameter in facts.anatomy.parameters
        if parameter.plain
    )
    if not layers or not wide or superseding_patches.INT8_OVERFLOW in facts.applied:
        return None
    return found("int8-activations", layers=_layer_list(layers, "8-bit layer"))


def images_behind_eight_bits(facts: TrainingFacts) -> Finding | None:
    """Find norms that would get the dtype of images, which a layer before them cannot change.

    A layer with a bias has its dtype. Autocast runs norms in float32, but for bfloat16 on a CPU.
    """
    if facts.autocast and (facts.autocast, facts.hardware.type) != ("bfloat16", "cpu"):
        return None
    for layer in facts.anatomy.quantized:
        tower, patches, _ = layer.name.rpartition(".patch_embed.")
        if patches and layer.bits == 8 and layer.module.bias is None:
            dtype = next(_dtypes_of_norms(facts.model.get_submodule(tower)), "")
            if dtype in OTHER_HALF:
                return found("images-behind-eight-bits", layer=layer.name, dtype=dtype)
    return None


def _dtypes_of_norms(model: torch.nn.Module) -> Iterator[str]:
    import torch

    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm) and module.weight is not None:
            yield short(module.weight.dtype)


def experts_not_quantized(facts: TrainingFacts) -> Finding | None:
    experts = [
        parameter
        for parameter in facts.anatomy.parameters
        if parameter.plain and parameter.tensor.ndim > 2 and "expert" in parameter.name.lower()
    ]
    if not facts.anatomy.quantized or not experts:
        return None
    full = [parameter for parameter in experts if short(parameter.dtype) == "float32"]
    half = any(short(parameter.dtype) in OTHER_HALF for parameter in experts)
    case = "as loaded"
    if full and not half and facts.compute_target in OTHER_HALF:
        spared = superseding_patches.FUSED_EXPERTS in facts.applied
        case = "in float32" if spared else "made float32"
    return found(
        "experts-not-quantized",
        case=case,
        experts=parameters(experts, "tensor"),
        size=gibibytes(parameter.tensor.nbytes for parameter in experts),
        memory=gibibytes(parameter.tensor.nbytes // 2 for parameter in full),
        dtype=facts.compute_target,
        patch=superseding_patches.FUSED_EXPERTS,
    )


def layers_of_another_dtype(facts: TrainingFacts) -> Finding | None:
    """Find quantized layers in bfloat16 under fp16, or the reverse: nothing can cast them."""
    if facts.autocast is None:
        return None
    other = OTHER_HALF[facts.autocast]
    layers = [layer for layer in facts.anatomy.foreign if short(layer.dtype) == other]
    if not layers:
        return None
    library = layers[0].library
    return found(
        f"quantized-in-another-dtype{' raises' if library in _RAISE else ''}",
        number=plural(len(layers), "layer"),
        library=library,
        names=short_list(layer.name for layer in layers),
        other=other,
        dtype=facts.autocast,
        setting=precision_setting(facts, other),
    )


def _computing_in(facts: TrainingFacts, dtype: str) -> list[QuantizedLayer]:
    return [layer for layer in facts.anatomy.four_bit if short(layer.compute_dtype) == dtype]


def _layer_list(layers: Iterable[QuantizedLayer], noun: str = "4-bit layer") -> str:
    layers = list(layers)
    return f"{plural(len(layers), noun)} ({short_list(layer.name for layer in layers)})"


def _thread(facts: TrainingFacts, dtype: str | None = None) -> repairs.Repair | None:
    dtype = facts.compute_target or dtype
    return None if dtype is None else repairs.thread(facts.model, dtype)

"""Check quantized layers: those of bitsandbytes, and of other libraries."""

from __future__ import annotations

from collections.abc import Iterable

from ...text import short_list
from .. import repairs, superseding_patches
from ..anatomy import QuantizedLayer
from ..facts import TrainingFacts
from ..findings import Finding, Severity
from ..wording import (
    OTHER_HALF,
    dtypes,
    gibibytes,
    parameters,
    plural,
    precision_setting,
    short,
)

_RAISE = ("hqq", "quanto")
"""The libraries whose layers raise in a step: most multiply gradients with weights of another dtype
in the backward pass, and quanto's int8 layers in float16 already refuse a bfloat16 input."""


def compute_in_float32(facts: TrainingFacts) -> Finding | None:
    layers = _computing_in(facts, "float32")
    if facts.compute_target not in OTHER_HALF or not layers:
        return None
    later = superseding_patches.TRAINER_COMPUTE_DTYPE in facts.applied and not facts.trainer_made
    why = (
        "Each pass casts their inputs and unpacks their weights to float32: more time and memory "
        "for nothing that mixed precision keeps."
    )
    if later:
        patch = superseding_patches.TRAINER_COMPUTE_DTYPE
        why += f" The patch {patch} changes it when a trainer is made."
    return Finding(
        "compute-dtype-float32",
        Severity.NOTE if later else Severity.WARNING,
        f"{_layer_list(layers)} of {len(facts.anatomy.four_bit)} compute in float32, the default "
        f"of bnb_4bit_compute_dtype; training is in {facts.compute_target}",
        why,
        f"BitsAndBytesConfig(…, bnb_4bit_compute_dtype=torch.{facts.compute_target})",
        repair=_thread(facts),
    )


def compute_in_another_dtype(facts: TrainingFacts) -> Finding | None:
    if facts.compute_target not in OTHER_HALF:
        return None
    other = OTHER_HALF[facts.compute_target]
    layers = _computing_in(facts, other)
    if not layers:
        return None
    return Finding(
        "compute-dtype-other",
        Severity.WARNING,
        f"{_layer_list(layers)} of {len(facts.anatomy.four_bit)} compute in {other}; training is "
        f"in {facts.compute_target}",
        "The compute dtype decides in which precision these layers work: theirs is not that "
        "of the training, and each pass casts to it and back. It may come from a pre-quantized "
        "checkpoint, whatever dtype from_pretrained was given.",
        f"BitsAndBytesConfig(…, bnb_4bit_compute_dtype=torch.{facts.compute_target})\n"
        f"patchkit.thread_dtype(model, torch.{facts.compute_target})  # for a model that is loaded",
        repair=_thread(facts),
    )


def compute_dtype_unset(facts: TrainingFacts) -> Finding | None:
    layers = [layer for layer in facts.anatomy.four_bit if layer.compute_dtype is None]
    if not layers or superseding_patches.FROZEN_COMPUTE_DTYPE in facts.applied:
        return None
    dtype = facts.compute_target or "bfloat16"
    return Finding(
        "compute-dtype-unset",
        Severity.WARNING,
        f"{_layer_list(layers)} have no compute dtype",
        "They keep the dtype of their first input for good: after a float32 warm-up they compute "
        "in float32 for the whole training.",
        f"bitsandbytes.nn.Linear4bit(…, compute_dtype=torch.{dtype})",
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
    states = dtypes(layer.state_dtype for layer in layers)
    computed = short(layers[0].compute_dtype)
    expected = facts.compute_target or computed
    return Finding(
        "quant-state-dtype",
        Severity.WARNING,
        f"{_layer_list(layers)} have a quant state of another dtype ({states}) than they compute "
        f"in ({dtypes(layer.compute_dtype for layer in layers)})",
        "Each backward pass casts the whole unpacked weight once more, and fused kernels that read "
        "the quant state's dtype fail or compute in it.",
        "AutoModelForCausalLM.from_pretrained(…, quantization_config=config, "
        f"dtype=torch.{expected})  # as bnb_4bit_compute_dtype",
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
    return Finding(
        "quantized-bias-trained",
        Severity.WARNING,
        f"{_layer_list(layers, 'quantized layer')} have trained biases",
        "bitsandbytes casts a bias in place to the dtype of the layer's input. After the first "
        "forward pass in half precision it is half precision: under fp16 the gradient scaler "
        "refuses it, under bf16 small updates are rounded away.",
        'LoraConfig(…, bias="none")',
    )


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
    return Finding(
        "int8-activations",
        Severity.NOTE,
        f"{_layer_list(layers, '8-bit layer')} have llm_int8_threshold=0.0, and activations are "
        "bfloat16",
        "Their inputs are cast to float16, and without a threshold nothing keeps outliers apart: "
        "activations above 65504, which bfloat16 holds, make the outputs infinite or NaN.",
        "BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=6.0)",
    )


def experts_not_quantized(facts: TrainingFacts) -> Finding | None:
    experts = [
        parameter
        for parameter in facts.anatomy.parameters
        if parameter.plain and parameter.tensor.ndim > 2 and "expert" in parameter.name.lower()
    ]
    if not facts.anatomy.quantized or not experts:
        return None
    size = gibibytes(parameter.tensor.nbytes for parameter in experts)
    why = (
        "bitsandbytes quantizes only linear layers. Transformers holds all experts of a layer in "
        "one tensor instead, so they take as much memory as without quantization."
    )
    change = (
        "# Transformers 4 has a linear layer for each expert of Mixtral, Qwen3-MoE and others:\n"
        'pip install "transformers<5"'
    )
    full = [parameter for parameter in experts if short(parameter.dtype) == "float32"]
    half = [parameter for parameter in experts if short(parameter.dtype) in OTHER_HALF]
    if full and not half and facts.compute_target in OTHER_HALF:
        spared = gibibytes(parameter.tensor.nbytes // 2 for parameter in full)
        why += f" In float32 they take {spared} more than in {facts.compute_target}"
        if superseding_patches.FUSED_EXPERTS not in facts.applied:
            why += ": peft.prepare_model_for_kbit_training makes them float32."
            change += (
                "\n# Or at least, before prepare_model_for_kbit_training:\n"
                f'patchkit.apply(only="{superseding_patches.FUSED_EXPERTS}")'
            )
        else:
            why += "."
    return Finding(
        "experts-not-quantized",
        Severity.WARNING,
        f"{parameters(experts, 'tensor')} of experts, {size}, are not quantized",
        why,
        change,
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
    raises = library in _RAISE
    names = short_list(layer.name for layer in layers)
    return Finding(
        "quantized-in-another-dtype",
        Severity.ERROR if raises else Severity.WARNING,
        f"{plural(len(layers), 'layer')} that {library} has quantized ({names}) compute in "
        f"{other}; training is in {facts.autocast}",
        "Autocast does not reach all that these layers multiply, and the backward pass runs "
        f"outside it: the first step raises that {facts.autocast} and {other} are not the same "
        "dtype."
        if raises
        else "Autocast does not reach all of these layers: each may return the dtype of its "
        f"input, {other} or float32 among them.",
        f"AutoModelForCausalLM.from_pretrained(…, dtype=torch.{facts.autocast})  # and quantize "
        "that: what is quantized cannot be cast\n"
        f"# or train in the dtype of the model: {precision_setting(facts, other)}",
    )


def _computing_in(facts: TrainingFacts, dtype: str) -> list[QuantizedLayer]:
    return [layer for layer in facts.anatomy.four_bit if short(layer.compute_dtype) == dtype]


def _layer_list(layers: Iterable[QuantizedLayer], noun: str = "4-bit layer") -> str:
    layers = list(layers)
    return f"{plural(len(layers), noun)} ({short_list(layer.name for layer in layers)})"


def _thread(facts: TrainingFacts, dtype: str | None = None) -> repairs.Repair | None:
    dtype = facts.compute_target or dtype
    return None if dtype is None else repairs.thread(facts.model, dtype)

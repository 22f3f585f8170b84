"""The layers of bitsandbytes."""

from __future__ import annotations

from collections.abc import Iterable

from ...wording import listed
from .. import moot, repairs
from ..anatomy import QuantizedLayer
from ..facts import Facts
from ..findings import Finding, Severity
from ..wording import OTHER_HALF, counted, dtypes, short


def compute_in_float32(facts: Facts) -> Finding | None:
    found = _computing_in(facts, "float32")
    if facts.target not in OTHER_HALF or not found:
        return None
    later = moot.TRAINER_COMPUTE_DTYPE in facts.applied and not facts.trainer_made
    why = (
        "Each pass casts their inputs and unpacks their weights to float32: more time and memory "
        "for nothing that mixed precision keeps."
    )
    if later:
        why += f" The patch {moot.TRAINER_COMPUTE_DTYPE} changes it when a trainer is made."
    return Finding(
        "compute-dtype-float32",
        Severity.NOTE if later else Severity.WARNING,
        f"{_named(found)} of {len(facts.anatomy.four_bit)} compute in float32, the default of "
        f"bnb_4bit_compute_dtype; training is in {facts.target}",
        why,
        f"BitsAndBytesConfig(…, bnb_4bit_compute_dtype=torch.{facts.target})",
        repair=_thread(facts),
    )


def compute_in_another_dtype(facts: Facts) -> Finding | None:
    if facts.target not in OTHER_HALF:
        return None
    other = OTHER_HALF[facts.target]
    found = _computing_in(facts, other)
    if not found:
        return None
    return Finding(
        "compute-dtype-other",
        Severity.WARNING,
        f"{_named(found)} of {len(facts.anatomy.four_bit)} compute in {other}; training is in "
        f"{facts.target}",
        "The compute dtype decides in which precision these layers work: theirs is not the one "
        "that was asked for, and each pass casts to it and back. A pre-quantized checkpoint may "
        "bring it along, whatever from_pretrained was told.",
        f"BitsAndBytesConfig(…, bnb_4bit_compute_dtype=torch.{facts.target})\n"
        f"patchkit.thread_dtype(model, torch.{facts.target})  # for a model that is loaded",
        repair=_thread(facts),
    )


def compute_dtype_unset(facts: Facts) -> Finding | None:
    found = [one for one in facts.anatomy.four_bit if one.compute_dtype is None]
    if not found or moot.FROZEN_COMPUTE_DTYPE in facts.applied:
        return None
    dtype = facts.target or "bfloat16"
    return Finding(
        "compute-dtype-unset",
        Severity.WARNING,
        f"{_named(found)} have no compute dtype",
        "They keep the dtype of the first input that they see, for ever: a float32 warm-up makes "
        "them compute in float32 all through training.",
        f"bitsandbytes.nn.Linear4bit(…, compute_dtype=torch.{dtype})",
        repair=_thread(facts),
    )


def quant_state(facts: Facts) -> Finding | None:
    found = [
        one
        for one in facts.anatomy.four_bit
        if None not in (one.compute_dtype, one.state_dtype)
        and one.state_dtype != one.compute_dtype
        and short(one.state_dtype) != facts.target  # then it is the compute dtype that is wrong
    ]
    if not found:
        return None
    states = dtypes(one.state_dtype for one in found)
    computed = short(found[0].compute_dtype)
    wanted = facts.target or computed
    return Finding(
        "quant-state-dtype",
        Severity.WARNING,
        f"{_named(found)} have a quant state of another dtype ({states}) than they compute in "
        f"({dtypes(one.compute_dtype for one in found)})",
        "Each backward pass casts the whole unpacked weight once more, and fused kernels that read "
        "the quant state's dtype fail or compute in it.",
        "AutoModelForCausalLM.from_pretrained(…, quantization_config=config, "
        f"dtype=torch.{wanted})  # as bnb_4bit_compute_dtype",
        repair=_thread(facts, computed),
    )


def trained_bias(facts: Facts) -> Finding | None:
    found = [
        one
        for one in facts.anatomy.quantized
        if one.module.bias is not None and one.module.bias.requires_grad
    ]
    if not found or moot.TRAINED_BIAS in facts.applied:
        return None
    half = facts.wanted is not None or any(
        short(one.dtype) in OTHER_HALF for one in facts.anatomy.parameters if one.plain
    )
    if not half:
        return None
    return Finding(
        "quantized-bias-trained",
        Severity.WARNING,
        f"{_named(found, 'quantized layer')} have trained biases",
        "bitsandbytes casts a bias in place to the dtype of the layer's input. After the first "
        "forward pass in half precision it is half precision: under fp16 the gradient scaler "
        "refuses it, under bf16 small updates are rounded away.",
        'LoraConfig(…, bias="none")',
    )


def int8_activations(facts: Facts) -> Finding | None:
    found = [
        one
        for one in facts.anatomy.quantized
        if one.bits == 8 and not getattr(getattr(one.module, "state", None), "threshold", 1.0)
    ]
    wide = facts.wanted == "bfloat16" or any(
        short(one.dtype) == "bfloat16" for one in facts.anatomy.parameters if one.plain
    )
    if not found or not wide or moot.INT8_OVERFLOW in facts.applied:
        return None
    return Finding(
        "int8-activations",
        Severity.NOTE,
        f"{_named(found, '8-bit layer')} have llm_int8_threshold=0.0, and activations are bfloat16",
        "Their inputs are cast to float16, and without a threshold nothing keeps outliers apart: "
        "activations above 65504, which bfloat16 holds, make the outputs infinite or NaN.",
        "BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=6.0)",
    )


def _computing_in(facts: Facts, dtype: str) -> list[QuantizedLayer]:
    return [one for one in facts.anatomy.four_bit if short(one.compute_dtype) == dtype]


def _named(found: Iterable[QuantizedLayer], what: str = "4-bit layer") -> str:
    found = list(found)
    return f"{counted(len(found), what)} ({listed(one.name for one in found)})"


def _thread(facts: Facts, dtype: str | None = None) -> repairs.Repair | None:
    dtype = facts.target or dtype
    return None if dtype is None else repairs.thread(facts.model, dtype)

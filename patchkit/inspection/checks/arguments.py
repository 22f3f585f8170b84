"""Check the training arguments against each other and the hardware."""

from __future__ import annotations

from .. import superseding_patches
from ..facts import TrainingFacts
from ..findings import Finding, found
from ..wording import precision_setting, short

_FLAG = {"float16": "fp16", "bfloat16": "bf16"}


def both_precisions(facts: TrainingFacts) -> Finding | None:
    for flag, other in (("fp16", "bf16"), ("fp16_full_eval", "bf16_full_eval")):
        if getattr(facts.args, flag, False) and getattr(facts.args, other, False):
            return found(
                "both-fp16-and-bf16", arguments=type(facts.args).__name__, flag=flag, other=other
            )
    return None


def precision_disagrees(facts: TrainingFacts) -> Finding | None:
    """Find arguments changed after the trainer was made, and contradicting settings."""
    settings = {
        "patchkit.apply(dtype=…)": facts.apply_dtype,
        "the training arguments": _args_dtype(facts),
    }
    dtypes = {source: dtype for source, dtype in settings.items() if dtype is not None}
    if facts.subject.accelerator is not None:
        dtypes["the Accelerator"] = facts.mixed_precision or "float32"
    if len(set(dtypes.values())) < 2 or facts.engine == "deepspeed" or both_precisions(facts):
        return None
    setting = precision_setting(facts, facts.apply_dtype or _args_dtype(facts) or "float32")
    return found(
        "precision-disagrees",
        conflict=", ".join(f"{source}: {dtype}" for source, dtype in dtypes.items()),
        dtype=facts.mixed_precision or "float32",
        setting=setting if facts.args is None else f"{setting}  # when the trainer is made",
    )


def precision_from_elsewhere(facts: TrainingFacts) -> Finding | None:
    """Find mixed precision from the launcher, or from a variable that Transformers 4 left set."""
    if (
        facts.args is None
        or facts.subject.accelerator is None
        or facts.engine == "deepspeed"
        or facts.mixed_precision is None
        or _args_dtype(facts) is not None
    ):
        return None
    return found(
        "precision-from-elsewhere",
        dtype=facts.mixed_precision,
        setting=precision_setting(facts, facts.mixed_precision),
    )


def fp16_on_cpu(facts: TrainingFacts) -> Finding | None:
    if (
        facts.mixed_precision != "float16"
        or facts.hardware.type != "cpu"
        or facts.autocast is not None
    ):
        return None
    if facts.engine in ("deepspeed", "megatron"):
        return None
    trained = sorted(
        {short(parameter.dtype) for parameter in facts.anatomy.trainable if parameter.plain}
    )
    note = f" Here that is {' and '.join(trained)}." if trained else ""
    return found("fp16-on-cpu", note=note, setting=precision_setting(facts, "bfloat16"))


def bf16_unsupported(facts: TrainingFacts) -> Finding | None:
    if facts.hardware.bfloat16:
        return None
    four_bit = [
        layer for layer in facts.anatomy.four_bit if short(layer.compute_dtype) == "bfloat16"
    ]
    weights = [
        parameter for parameter in facts.anatomy.parameters if short(parameter.dtype) == "bfloat16"
    ]
    if facts.mixed_precision == "bfloat16":
        problem = "bf16 mixed precision is on"
    elif four_bit:
        problem = f"{len(four_bit)} 4-bit layers compute in bfloat16"
    elif facts.mixed_precision is None and weights:
        problem = f"{len(weights)} parameters are bfloat16, and training is in their dtype"
    else:
        return None
    return found(
        "bf16-unsupported",
        problem=problem,
        hardware=facts.hardware,
        setting=precision_setting(facts, "float16"),
    )


def full_eval_casts(facts: TrainingFacts) -> Finding | None:
    name = next(
        (flag for flag in ("fp16_full_eval", "bf16_full_eval") if getattr(facts.args, flag, False)),
        None,
    )
    if (
        name is None
        or not facts.anatomy.trainable
        or superseding_patches.FULL_EVAL in facts.applied
    ):
        return None
    dtype = "float16" if name.startswith("fp16") else "bfloat16"
    if all(short(parameter.dtype) == dtype for parameter in facts.anatomy.trainable):
        return None
    after = "the gradient scaler refuses them" if facts.scaler else f"training goes on in {dtype}"
    return found(
        "full-eval-casts", arguments=type(facts.args).__name__, flag=name, dtype=dtype, after=after
    )


def _args_dtype(facts: TrainingFacts) -> str | None:
    return next((dtype for dtype, flag in _FLAG.items() if getattr(facts.args, flag, False)), None)

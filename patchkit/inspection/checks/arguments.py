"""Check the training arguments against each other and the hardware."""

from __future__ import annotations

from .. import superseding_patches
from ..facts import TrainingFacts
from ..findings import Finding, Severity
from ..wording import precision_setting, short

_FLAG = {"float16": "fp16", "bfloat16": "bf16"}


def both_precisions(facts: TrainingFacts) -> Finding | None:
    for flag, other in (("fp16", "bf16"), ("fp16_full_eval", "bf16_full_eval")):
        if getattr(facts.args, flag, False) and getattr(facts.args, other, False):
            return Finding(
                "both-fp16-and-bf16",
                Severity.ERROR,
                f"the training arguments have both {flag}=True and {other}=True",
                "Which of them applies depends on the reader: Transformers takes fp16, patchkit "
                "bf16, and so a scaler for one gets parameters for the other.",
                f"{type(facts.args).__name__}(…, {flag}=False, {other}=True)  # or the reverse",
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
    conflict = ", ".join(f"{source}: {dtype}" for source, dtype in dtypes.items())
    return Finding(
        "precision-disagrees",
        Severity.WARNING,
        f"conflicting training precisions: {conflict}",
        f"Autocast and scaler are those of {facts.mixed_precision or 'float32'}; code that "
        "reads another of them casts to a different dtype.",
        precision_setting(facts, facts.apply_dtype or _args_dtype(facts) or "float32")
        + ("" if facts.args is None else "  # when the trainer is made"),
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
    return Finding(
        "precision-from-elsewhere",
        Severity.NOTE,
        f"the training arguments ask for neither fp16 nor bf16, and the Accelerator runs in "
        f"{facts.mixed_precision} mixed precision",
        "The launcher set it, or the variable ACCELERATE_MIXED_PRECISION, which training "
        "arguments made earlier in this process may have left behind.",
        f"{precision_setting(facts, facts.mixed_precision)}  # if that is meant; else:\n"
        'os.environ.pop("ACCELERATE_MIXED_PRECISION", None)  # before the arguments are made',
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
    return Finding(
        "fp16-on-cpu",
        Severity.WARNING,
        "fp16 mixed precision is on, but training is on a CPU",
        "Accelerate gives a CPU neither float16 autocast nor a gradient scaler, without a warning: "
        f"training runs in the dtypes that the parameters have.{note}",
        f"{precision_setting(facts, 'bfloat16')}  # a CPU does autocast to bfloat16",
    )


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
    return Finding(
        "bf16-unsupported",
        Severity.ERROR,
        f"{problem}, but {facts.hardware} does not compute in bfloat16",
        "NVIDIA's GPUs do from compute capability 8.0 on. PyTorch emulates it on older ones, which "
        "is slow, and kernels written for it (FlashAttention, many of Triton) refuse.",
        f"{precision_setting(facts, 'float16')}\n"
        "BitsAndBytesConfig(…, bnb_4bit_compute_dtype=torch.float16)\n"
        "AutoModelForCausalLM.from_pretrained(…, dtype=torch.float16)  # float32 if trained whole",
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
    return Finding(
        "full-eval-casts",
        Severity.WARNING,
        f"{name}=True, but there are trained parameters in another dtype",
        f"`evaluate()` or `predict()` outside of `train()` casts the whole model to {dtype} and "
        f"leaves it so. If that is before training, {after}; if it is after, the saved weights "
        f"are {dtype}.",
        f"{type(facts.args).__name__}(…, {name}=False)  # mixed precision evaluates in it anyway",
    )


def _args_dtype(facts: TrainingFacts) -> str | None:
    return next((dtype for dtype, flag in _FLAG.items() if getattr(facts.args, flag, False)), None)

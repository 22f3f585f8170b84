"""What the training arguments ask for, and whether it can be had."""

from __future__ import annotations

from .. import moot
from ..facts import Facts
from ..findings import Finding, Severity
from ..wording import short

_FLAG = {"float16": "fp16", "bfloat16": "bf16"}


def both_precisions(facts: Facts) -> Finding | None:
    for one, other in (("fp16", "bf16"), ("fp16_full_eval", "bf16_full_eval")):
        if getattr(facts.args, one, False) and getattr(facts.args, other, False):
            return Finding(
                "both-fp16-and-bf16",
                Severity.ERROR,
                f"the training arguments have both {one}=True and {other}=True",
                "Which of them holds depends on who reads them: Transformers takes fp16, patchkit "
                "bf16, and a scaler for one meets parameters for the other.",
                f"{_call(facts)}(…, {one}=False, {other}=True)  # or the reverse",
            )
    return None


def precision_disagrees(facts: Facts) -> Finding | None:
    """The arguments were changed after the trainer was made, or something else has a say."""
    given = {"patchkit.apply(dtype=…)": facts.requested, "the training arguments": _of_args(facts)}
    said = {who: dtype for who, dtype in given.items() if dtype is not None}
    if facts.subject.accelerator is not None:
        said["the Accelerator"] = facts.wanted or "float32"
    if len(set(said.values())) < 2 or facts.engine == "deepspeed" or both_precisions(facts):
        return None
    who_says_what = ", ".join(f"{who}: {dtype}" for who, dtype in said.items())
    return Finding(
        "precision-disagrees",
        Severity.WARNING,
        f"the precision to train in is said more than once, and not alike: {who_says_what}",
        f"Autocast and scaler are those of {facts.wanted or 'float32'}; code that asks another of "
        "them casts to something else.",
        f"{_call(facts)}(…, {_flags(facts.requested or _of_args(facts))})  "
        "# when the trainer is made",
    )


def precision_from_elsewhere(facts: Facts) -> Finding | None:
    """Transformers 4 leaves the variable behind: a later trainer in the process inherits it."""
    if (
        facts.args is None
        or facts.subject.accelerator is None
        or facts.engine == "deepspeed"
        or facts.wanted is None
        or _of_args(facts) is not None
    ):
        return None
    return Finding(
        "precision-from-elsewhere",
        Severity.NOTE,
        f"the training arguments ask for neither fp16 nor bf16, and the Accelerator runs in "
        f"{facts.wanted} mixed precision",
        "The launcher said so, or the variable ACCELERATE_MIXED_PRECISION, which training "
        "arguments made earlier in this process may have left behind.",
        f"{_call(facts)}(…, {_flags(facts.wanted)})  # if that is meant; else:\n"
        'os.environ.pop("ACCELERATE_MIXED_PRECISION", None)  # before the arguments are made',
    )


def fp16_on_cpu(facts: Facts) -> Finding | None:
    if facts.wanted != "float16" or facts.hardware.type != "cpu" or facts.autocast is not None:
        return None
    if facts.engine in ("deepspeed", "megatron"):
        return None
    trained = sorted({short(one.dtype) for one in facts.anatomy.trainable if one.plain})
    means = f" Here that is {' and '.join(trained)}." if trained else ""
    return Finding(
        "fp16-on-cpu",
        Severity.WARNING,
        "fp16 mixed precision was asked for, and training is on a CPU",
        "Accelerate gives a CPU neither float16 autocast nor a gradient scaler, and says nothing: "
        f"training runs in the dtypes that the parameters have.{means}",
        f"{_call(facts)}(…, fp16=False, bf16=True)  # a CPU does autocast to bfloat16",
    )


def bf16_unsupported(facts: Facts) -> Finding | None:
    if facts.hardware.bfloat16:
        return None
    four_bit = [one for one in facts.anatomy.four_bit if short(one.compute_dtype) == "bfloat16"]
    weights = [one for one in facts.anatomy.parameters if short(one.dtype) == "bfloat16"]
    if facts.wanted == "bfloat16":
        what = "bf16 mixed precision was asked for"
    elif four_bit:
        what = f"{len(four_bit)} 4-bit layers compute in bfloat16"
    elif facts.wanted is None and weights:
        what = f"{len(weights)} parameters are bfloat16, and training is in their dtype"
    else:
        return None
    return Finding(
        "bf16-unsupported",
        Severity.ERROR,
        f"{what}, and {facts.hardware} does not compute in bfloat16",
        "NVIDIA's GPUs do from compute capability 8.0 on. PyTorch emulates it on older ones, which "
        "is slow, and kernels written for it (FlashAttention, many of Triton) refuse.",
        f"{_call(facts)}(…, bf16=False, fp16=True)\n"
        "BitsAndBytesConfig(…, bnb_4bit_compute_dtype=torch.float16)\n"
        "AutoModelForCausalLM.from_pretrained(…, dtype=torch.float16)  # float32 if trained whole",
    )


def full_eval_casts(facts: Facts) -> Finding | None:
    name = next(
        (one for one in ("fp16_full_eval", "bf16_full_eval") if getattr(facts.args, one, False)),
        None,
    )
    if name is None or not facts.anatomy.trainable or moot.FULL_EVAL in facts.applied:
        return None
    dtype = "float16" if name.startswith("fp16") else "bfloat16"
    if all(short(one.dtype) == dtype for one in facts.anatomy.trainable):
        return None
    after = "the gradient scaler refuses them" if facts.scaler else f"training goes on in {dtype}"
    return Finding(
        "full-eval-casts",
        Severity.WARNING,
        f"{name}=True, and there are trained parameters in another dtype",
        f"`evaluate()` or `predict()` outside of `train()` casts the whole model to {dtype} and "
        f"leaves it so. Where that is before training, {after}; where it is after, {dtype} weights "
        "are what is saved.",
        f"{_call(facts)}(…, {name}=False)  # mixed precision evaluates in it anyway",
    )


def _of_args(facts: Facts) -> str | None:
    return next((dtype for dtype, flag in _FLAG.items() if getattr(facts.args, flag, False)), None)


def _call(facts: Facts) -> str:
    return "TrainingArguments" if facts.args is None else type(facts.args).__name__


def _flags(dtype: str | None) -> str:
    return f"fp16={dtype == 'float16'}, bf16={dtype == 'bfloat16'}"

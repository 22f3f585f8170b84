"""Check the dtypes of frozen parameters."""

from __future__ import annotations

from .. import repairs
from ..facts import Facts
from ..findings import Finding, Severity
from ..wording import OTHER_HALF, parameters, precision_setting, short


def other_half(facts: Facts) -> Finding | None:
    """Find a bfloat16 model in an fp16 training, or the reverse."""
    if facts.mixed_precision is None:
        return None
    other = OTHER_HALF[facts.mixed_precision]
    frozen = [
        parameter
        for parameter in facts.anatomy.parameters
        if parameter.plain and not parameter.trainable and short(parameter.dtype) == other
    ]
    if not frozen:
        return None
    costs = {
        "float16": "Each forward pass casts them to float16, whose range is narrower: values "
        "of a model that was trained in bfloat16 may overflow to infinity.",
        "bfloat16": "Each forward pass casts them to bfloat16, which drops 3 of their 11 bits.",
    }
    return Finding(
        f"{other}-model-in-{facts.mixed_precision}-training",
        Severity.WARNING,
        parameters(frozen, "frozen parameter"),
        f"Mixed precision is {facts.mixed_precision}. {costs[facts.mixed_precision]}",
        f"AutoModelForCausalLM.from_pretrained(…, dtype=torch.{facts.mixed_precision})\n"
        f"# or, on hardware that has it, train in the dtype of the model:\n"
        + precision_setting(facts, other),
        repair=None
        if facts.engine or facts.quantizer
        else repairs.thread(facts.model, facts.mixed_precision),
    )

"""The dtype of what is not trained."""

from __future__ import annotations

from .. import repairs
from ..facts import Facts
from ..findings import Finding, Severity
from ..wording import OTHER_HALF, parameters, short


def other_half(facts: Facts) -> Finding | None:
    """A bfloat16 model in an fp16 training, or the reverse."""
    if facts.wanted is None:
        return None
    other = OTHER_HALF[facts.wanted]
    found = [
        one
        for one in facts.anatomy.parameters
        if one.plain and not one.trainable and short(one.dtype) == other
    ]
    if not found:
        return None
    costs = {
        "float16": "Each forward pass casts them to float16, whose range is narrower: what a "
        "bfloat16 model was trained to compute may overflow to infinity.",
        "bfloat16": "Each forward pass casts them to bfloat16, which drops 3 of their 11 bits.",
    }
    flags = {"float16": "fp16=True, bf16=False", "bfloat16": "fp16=False, bf16=True"}
    return Finding(
        f"{other}-model-in-{facts.wanted}-training",
        Severity.WARNING,
        parameters(found, "frozen parameter"),
        f"Mixed precision is {facts.wanted}. {costs[facts.wanted]}",
        f"AutoModelForCausalLM.from_pretrained(…, dtype=torch.{facts.wanted})\n"
        f"# or, on hardware that has it, train in the dtype of the model:\n"
        f"TrainingArguments(…, {flags[other]})",
        repair=None if facts.engine else repairs.thread(facts.model, facts.wanted),
    )

"""Check the dtypes of frozen parameters and of the output head."""

from __future__ import annotations

from typing import Any

from .. import repairs, superseding_patches
from ..facts import TrainingFacts
from ..findings import Finding, Severity
from ..wording import OTHER_HALF, parameters, precision_setting, short


def other_half(facts: TrainingFacts) -> Finding | None:
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


def head_of_another_dtype(facts: TrainingFacts) -> Finding | None:
    """Find a head whose input nothing casts, since there is no autocast."""
    if (
        facts.autocast is not None
        or facts.model is None
        or superseding_patches.LM_HEAD in facts.applied
    ):
        return None
    head, embedding = _weight(facts.model, "output"), _weight(facts.model, "input")
    if head is None or embedding is None or head.dtype == embedding.dtype:
        return None
    return Finding(
        "head-of-another-dtype",
        Severity.WARNING,
        f"the output head is {short(head.dtype)}, the input embedding {short(embedding.dtype)}, "
        "and there is no autocast",
        "Unless the model itself casts between the two, the head raises a dtype mismatch "
        "(`expected m1 and m2 to have the same dtype`).",
        f"model.get_output_embeddings().to({embedding.dtype})\n"
        f"# or mixed precision, if that is meant: {precision_setting(facts, 'bfloat16')}",
    )


def _weight(model: Any, end: str) -> Any:
    """Return the weight of a plain head or embedding; None without one, or if hooks cast."""
    import torch

    try:
        module = getattr(model, f"get_{end}_embeddings")()
    except (AttributeError, NotImplementedError):
        return None
    plain = torch.nn.Linear if end == "output" else torch.nn.Embedding
    if type(module) is not plain or module._forward_pre_hooks or module._forward_hooks:
        return None
    weight = module.weight
    return weight if weight.is_floating_point() else None

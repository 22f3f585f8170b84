"""Check the dtypes of frozen parameters and of the output head."""

from __future__ import annotations

from typing import Any

from .. import repairs, superseding_patches
from ..facts import TrainingFacts
from ..findings import Finding, found
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
    return found(
        f"{other}-model-in-{facts.mixed_precision}-training",
        parameters=parameters(frozen, "frozen parameter"),
        setting=precision_setting(facts, other),
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
    return found(
        "head-of-another-dtype",
        head=short(head.dtype),
        embedding=short(embedding.dtype),
        setting=precision_setting(facts, "bfloat16"),
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

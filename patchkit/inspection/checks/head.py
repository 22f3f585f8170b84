"""Check for an output head in another dtype than its input."""

from __future__ import annotations

from typing import Any

from .. import superseding_patches
from ..facts import Facts
from ..findings import Finding, Severity
from ..wording import precision_setting, short


def head_of_another_dtype(facts: Facts) -> Finding | None:
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

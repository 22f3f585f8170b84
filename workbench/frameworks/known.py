"""What is known about differences, so that a table can say why."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ..sweep.trial import Trial

_BY_CHANCE = "two runs without patchkit have other numbers, too"
FIXED = {
    "trl-adapter-bf16-cast": "adapters are trained in float32, not in bfloat16 as with "
    '`apply(adapter_cast="bf16")`',
    "transformers-add-adapter-dtype": "adapters of `add_adapter` are trained in float32, not in "
    "the dtype of the model",
    "peft-modules-to-save-dtype": "trained copies of layers, such as a new head, are float32 as "
    "adapters are, not in the dtype of the model",
    "bitsandbytes-cpu-inference-packing": "a 4-bit model that has generated on this CPU trains "
    "without most of its gradients",
}
"""Fixes of what gives wrong numbers and no error, and what those come from."""
LEFT_OUT = (*FIXED, ",".join(FIXED))
"""What is left out to see where numbers come from: each of these fixes, then all of them."""
OLDER = "it was written for older releases; `patchkit run --legacy` runs it"
CAUSES = {
    "CUDA is required but not available for bitsandbytes": "this release of bitsandbytes has "
    "quantized layers for a GPU only",
    "module 'torch.cpu' has no attribute 'max_memory_reserved'": "this release asks for "
    "the memory of a GPU at each step",
}
"""Why some errors come with patchkit, too, by a part of their lines."""


def explanation(
    without: Trial, again: Trial | None = None, excluded: Mapping[str, Trial] | None = None
) -> str:
    """Return why the figures of a cell differ; empty if that is not known.

    Args:
        without: the trial without patchkit.
        again: a second trial without it; None if there was none.
        excluded: trials with patchkit that leave out what `LEFT_OUT` names.
    """
    if again is not None and not same_figures(again, without):
        return _BY_CHANCE
    for patches, trial in (excluded or {}).items():
        if same_figures(trial, without):
            causes = "; ".join(f"{patch}: {FIXED[patch]}" for patch in patches.split(","))
            several = "more than one of these: " if "," in patches else ""
            return f"{several}{causes}; with that excluded the numbers are those without patchkit"
    return ""


def cause(error: str) -> str:
    """Return why an error comes with patchkit, too; empty if that is not known."""
    return next((why for part, why in CAUSES.items() if part in error), "")


def same_figures(trial: Trial, without: Trial) -> bool:
    """Tell whether a trial has the figures of one without patchkit, to the last digit."""
    figures = {name: trial.figures.get(name) for name in without.figures}
    return json.dumps(figures) == json.dumps(without.figures)

"""What is known about differences, so that a table can say why."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ..sweep.trial import Trial

_ADAPTERS = (
    "trl-adapter-bf16-cast: adapters are trained in float32, not bfloat16; with "
    '`apply(adapter_cast="bf16")` the numbers are those without patchkit'
)
_BY_CHANCE = "two runs without patchkit have other numbers, too"
FIXED = {
    "bitsandbytes-cpu-inference-packing": "a 4-bit model that has generated on this CPU trains "
    "without most of its gradients; with this fix excluded the numbers are those without patchkit",
}
"""Fixes of what gives wrong numbers and no error, and what those come from."""


def explanation(
    without: Trial,
    with_patchkit: Trial,
    again: Trial | None = None,
    excluded: Mapping[str, Trial] | None = None,
) -> str:
    """Return why the figures of a cell differ; empty if that is not known.

    Args:
        without: the trial without patchkit.
        with_patchkit: the trial with it.
        again: a second trial without it; None if there was none.
        excluded: trials with it that leave out a patch of `FIXED`, by its id.
    """
    if again is not None and not same_figures(again, without):
        return _BY_CHANCE
    before, after = (set(trial.figures.get("dtypes", ())) for trial in (without, with_patchkit))
    if (before, after) == ({"bfloat16"}, {"float32"}):
        return _ADAPTERS
    reasons = (patch for patch, trial in (excluded or {}).items() if same_figures(trial, without))
    return next((f"{patch}: {FIXED[patch]}" for patch in reasons), "")


def same_figures(trial: Trial, without: Trial) -> bool:
    """Tell whether a trial has the figures of one without patchkit, to the last digit."""
    figures = {name: trial.figures.get(name) for name in without.figures}
    return json.dumps(figures) == json.dumps(without.figures)

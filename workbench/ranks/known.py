"""What is known about differences and failures, so that a table can say why."""

from __future__ import annotations

from ..sweep.trial import Trial
from .records import RankCell

_ADAPTERS = (
    "trl-adapter-bf16-cast: adapters are trained in float32, not bfloat16; with "
    '`apply(adapter_cast="bf16")` the numbers are those without patchkit'
)
_REASONS = {
    "to have the same dtype": "adapters under FSDP compute in the dtype of the training; "
    "`generate` calls the model below the wrapper that casts what goes in, and PEFT casts it to "
    "the dtype in which their weights are kept"
}
"""A part of an error, and why it is raised."""


def explanation(cell: RankCell, without: Trial, with_patchkit: Trial) -> str:
    """Return why the figures of a cell differ; empty if that is not known."""
    before, after = (set(trial.figures["trained"][0]) for trial in (without, with_patchkit))
    if cell.method == "lora" and (before, after) == ({"bfloat16"}, {"float32"}):
        return _ADAPTERS
    return ""


def reason(trial: Trial) -> str:
    """Return why a trial fails; empty if that is not known."""
    return next((why for part, why in _REASONS.items() if part in trial.error), "")

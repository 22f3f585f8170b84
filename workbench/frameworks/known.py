"""What is known about differences, so that a table can say why."""

from __future__ import annotations

import json

from ..sweep.trial import Trial

_ADAPTERS = (
    "trl-adapter-bf16-cast: adapters are trained in float32, not bfloat16; with "
    '`apply(adapter_cast="bf16")` the numbers are those without patchkit'
)
_BY_CHANCE = "two runs without patchkit have other numbers, too"


def explanation(without: Trial, with_patchkit: Trial, again: Trial | None) -> str:
    """Return why the figures of a cell differ; empty if that is not known.

    Args:
        without: the trial without patchkit.
        with_patchkit: the trial with it.
        again: a second trial without it; None if there was none.
    """
    if again is not None and json.dumps(again.figures) != json.dumps(without.figures):
        return _BY_CHANCE
    before, after = (set(trial.figures.get("dtypes", ())) for trial in (without, with_patchkit))
    return _ADAPTERS if (before, after) == ({"bfloat16"}, {"float32"}) else ""

"""Keywords of the model cards that trainers write."""

from __future__ import annotations

from typing import Any

from ..changes import Action, Change, Convert, Drop
from .many import keywords

_TRAINERS = (
    *("_BaseTrainer", "BaseTrainer", "CPOTrainer", "DPOTrainer", "GKDTrainer", "KTOTrainer"),
    *("GRPOTrainer", "ORPOTrainer", "OnlineDPOTrainer", "RewardTrainer", "SFTTrainer"),
)
"""Classes that define the method, in one release or another."""


def _named(value: Any, call: Any) -> dict[str, Any]:
    if value is None:
        return {}
    return {"dataset_name": value if isinstance(value, str) else ", ".join(value)}


_ACTIONS: dict[str, Action] = {
    "dataset": Convert("dataset_name", _named),
    **{
        name: Drop("TRL's card has no place for it")
        for name in (
            "dataset_args",
            "dataset_tags",
            "finetuned_from",
            "language",
            "license",
            "tasks",
        )
    },
}

ROWS: tuple[Change, ...] = tuple(
    keywords(
        tuple(f"trl.{trainer}.create_model_card" for trainer in _TRAINERS),
        _ACTIONS,
        gone="trl 0.12.0",
        since="trl 0.12.0",
    )
)

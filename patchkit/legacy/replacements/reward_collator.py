"""The collator that reward trainers had until TRL 0.24."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trl.trainer.reward_trainer import DataCollatorForPreference

from ..converting.batches import RewardBatch

_IDS = {"input_ids_chosen": "chosen_ids", "input_ids_rejected": "rejected_ids"}


@dataclass
class RewardDataCollatorWithPadding:
    """Make batches of pairs, filled up to the longest row.

    Args:
        tokenizer: has the token to fill up with.
        padding: without effect: a loss does not count what is filled up.
        max_length: without effect, for the same reason.
        pad_to_multiple_of: fill up to a multiple of this length.
        return_tensors: `pt`.
    """

    tokenizer: Any
    padding: bool | str = True
    max_length: int | None = None
    pad_to_multiple_of: int | None = None
    return_tensors: str = "pt"

    def __call__(self, features: list[dict[str, Any]]) -> RewardBatch:
        rows = [{_IDS.get(name, name): value for name, value in row.items()} for row in features]
        collate = DataCollatorForPreference(self.tokenizer.pad_token_id, self.pad_to_multiple_of)
        return RewardBatch(collate(rows))

"""The collator that reward trainers had until TRL 0.24."""

from __future__ import annotations

from typing import Any

from trl.trainer.reward_trainer import DataCollatorForPreference


class RewardDataCollatorWithPadding(DataCollatorForPreference):  # type: ignore[misc,unused-ignore]
    """Make batches of pairs, filled up to the longest row.

    Args:
        tokenizer: has the token to fill up with.
        padding: without effect: a loss does not count what is filled up.
        max_length: without effect, for the same reason.
        pad_to_multiple_of: fill up to a multiple of this length.
        return_tensors: `pt`.
    """

    def __init__(
        self,
        tokenizer: Any,
        padding: bool | str = True,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        return_tensors: str = "pt",
    ) -> None:
        super().__init__(tokenizer.pad_token_id, pad_to_multiple_of, return_tensors)
        self.tokenizer = tokenizer

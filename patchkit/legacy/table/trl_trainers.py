"""Keywords of TRL's trainers."""

from __future__ import annotations

from ..changes import Change, Configure, Keyword, Rename

_0_13 = "https://github.com/huggingface/trl/releases/tag/v0.13.0"

ROWS: tuple[Change, ...] = (
    Keyword(
        owners=("transformers.Trainer",),
        name="tokenizer",
        action=Rename("processing_class"),
        gone="transformers 5.0.0",
        since="transformers 4.46.0",
        source="https://github.com/huggingface/transformers/releases/tag/v5.0.0",
    ),
    Keyword(
        owners=("trl.SFTTrainer",),
        name="max_seq_length",
        action=Configure("max_length"),
        gone="trl 0.13.0",
        since="trl 0.16.0",
        source=_0_13,
    ),
)

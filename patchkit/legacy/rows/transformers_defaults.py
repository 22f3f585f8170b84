"""Defaults of `TrainingArguments` that changed while the names stayed."""

from __future__ import annotations

from ..changes import Change, Default

_FILE = "https://github.com/huggingface/transformers/blob/v{}/src/transformers/training_args.py"
_BEGIN = "4.36.0"

ROWS: tuple[Change, ...] = tuple(
    Default(
        owners=("transformers.TrainingArguments",),
        name=name,
        values=((_BEGIN, was), (since, now)),
        quiet=True,
        gone=f"transformers {since}",
        source=_FILE.format(since),
    )
    for name, was, since, now in (
        ("report_to", "all", "5.0.0", "none"),
        ("average_tokens_across_devices", False, "4.54.0", True),
        ("optim", "adamw_torch", "4.54.0", "adamw_torch_fused"),
    )
)

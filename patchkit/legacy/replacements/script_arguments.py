"""Command-line arguments of TRL's scripts up to 0.12, with their defaults.

The field `config` is left out: current parsers have it themselves, and refuse a second one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trl import ScriptArguments

_TRAIN, _TEST = "the split to train on", "the split to evaluate on"
_REENTRANT = "Whether to apply `use_reentrant` for gradient_checkpointing"


@dataclass
class SFTScriptArguments(ScriptArguments):
    """What the script for supervised fine-tuning took besides the training arguments."""

    dataset_name: str = field(
        default="timdettmers/openassistant-guanaco", metadata={"help": "the dataset name"}
    )
    gradient_checkpointing_use_reentrant: bool = field(default=False, metadata={"help": _REENTRANT})


@dataclass
class RewardScriptArguments(ScriptArguments):
    """What the script for reward models took besides the training arguments."""

    dataset_name: str = field(
        default="trl-lib/ultrafeedback_binarized", metadata={"help": "the dataset name"}
    )
    gradient_checkpointing_use_reentrant: bool = field(default=False, metadata={"help": _REENTRANT})


@dataclass
class DPOScriptArguments(ScriptArguments):
    """What the script for direct preference optimization took besides the training arguments."""

    dataset_name: str | None = field(default=None, metadata={"help": "the dataset name"})
    sanity_check: bool = field(default=False, metadata={"help": "train on a few rows"})
    ignore_bias_buffers: bool = field(
        default=False, metadata={"help": "leave boolean buffers out of distributed training"}
    )
    gradient_checkpointing_use_reentrant: bool = field(default=False, metadata={"help": _REENTRANT})


@dataclass
class SftScriptArguments(SFTScriptArguments):
    """What the script for supervised fine-tuning took before TRL 0.9, in addition."""

    dataset_text_field: str | None = field(default=None, metadata={"help": "the text column"})
    dataset_train_name: str = field(default="train", metadata={"help": _TRAIN})
    dataset_test_name: str = field(default="test", metadata={"help": _TEST})
    max_seq_length: int = field(default=512, metadata={"help": "tokens of the longest row"})
    packing: bool = field(default=False, metadata={"help": "pack the rows"})


@dataclass
class DpoScriptArguments(DPOScriptArguments):
    """What the script for direct preference optimization took before TRL 0.9, in addition."""

    beta: float = field(default=0.1, metadata={"help": "the weight of the reference model"})
    max_length: int = field(default=512, metadata={"help": "tokens of the longest row"})
    max_prompt_length: int = field(default=128, metadata={"help": "tokens of the longest prompt"})
    max_target_length: int = field(default=128, metadata={"help": "tokens of the completion"})
    generate_during_eval: bool = field(default=False, metadata={"help": "generate, too"})

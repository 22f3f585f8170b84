"""Command-line arguments of TRL's scripts from 0.9 to 0.12, with the defaults of that time.

The field `config` is left out: the parser of today has it, and takes no other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trl import ScriptArguments

_REENTRANT = "Whether to apply `use_reentrant` for gradient_checkpointing"


@dataclass
class SFTScriptArguments(ScriptArguments):
    """What the script for supervised fine-tuning took besides the training arguments.

    Args:
        dataset_name: the dataset.
        gradient_checkpointing_use_reentrant: the kind of gradient checkpointing.
    """

    dataset_name: str = field(
        default="timdettmers/openassistant-guanaco", metadata={"help": "the dataset name"}
    )
    gradient_checkpointing_use_reentrant: bool = field(default=False, metadata={"help": _REENTRANT})


@dataclass
class RewardScriptArguments(ScriptArguments):
    """What the script for reward models took besides the training arguments.

    Args:
        dataset_name: the dataset.
        gradient_checkpointing_use_reentrant: the kind of gradient checkpointing.
    """

    dataset_name: str = field(
        default="trl-lib/ultrafeedback_binarized", metadata={"help": "the dataset name"}
    )
    gradient_checkpointing_use_reentrant: bool = field(default=False, metadata={"help": _REENTRANT})


@dataclass
class DPOScriptArguments(ScriptArguments):
    """What the script for direct preference optimization took besides the training arguments.

    Args:
        dataset_name: the dataset.
        sanity_check: the script trained on a few rows.
        ignore_bias_buffers: the script left boolean buffers out of distributed training.
        gradient_checkpointing_use_reentrant: the kind of gradient checkpointing.
    """

    dataset_name: str | None = field(default=None, metadata={"help": "the dataset name"})
    sanity_check: bool = field(default=False, metadata={"help": "train on a few rows"})
    ignore_bias_buffers: bool = field(
        default=False, metadata={"help": "leave boolean buffers out of distributed training"}
    )
    gradient_checkpointing_use_reentrant: bool = field(default=False, metadata={"help": _REENTRANT})

"""Command-line arguments of TRL's scripts before 0.9, with the defaults of that time.

They had what the configurations of trainers have since.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import script_arguments

_TRAIN, _TEST = "the split to train on", "the split to evaluate on"


@dataclass
class SftScriptArguments(script_arguments.SFTScriptArguments):
    """What the script for supervised fine-tuning took besides the training arguments.

    Args:
        dataset_text_field: the column with the text.
        dataset_train_name: the split to train on.
        dataset_test_name: the split to evaluate on.
        max_seq_length: tokens of the longest row.
        packing: whether rows are packed.
    """

    dataset_text_field: str | None = field(default=None, metadata={"help": "the text column"})
    dataset_train_name: str = field(default="train", metadata={"help": _TRAIN})
    dataset_test_name: str = field(default="test", metadata={"help": _TEST})
    max_seq_length: int = field(default=512, metadata={"help": "tokens of the longest row"})
    packing: bool = field(default=False, metadata={"help": "pack the rows"})


@dataclass
class DpoScriptArguments(script_arguments.DPOScriptArguments):
    """What the script for direct preference optimization took besides the training arguments.

    Args:
        beta: the weight of the reference model.
        max_length: tokens of the longest row.
        max_prompt_length: tokens of the longest prompt.
        max_target_length: tokens of the longest completion of an encoder-decoder model.
        generate_during_eval: whether completions are generated with each evaluation.
    """

    beta: float = field(default=0.1, metadata={"help": "the weight of the reference model"})
    max_length: int = field(default=512, metadata={"help": "tokens of the longest row"})
    max_prompt_length: int = field(default=128, metadata={"help": "tokens of the longest prompt"})
    max_target_length: int = field(default=128, metadata={"help": "tokens of the completion"})
    generate_during_eval: bool = field(default=False, metadata={"help": "generate, too"})

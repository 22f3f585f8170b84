"""Combinations of arguments, and classes of a script's own, that were taken and raise today."""

from __future__ import annotations

from ..adjusting import adapters, arguments, callbacks, command_lines, overrides, rows_of_datasets
from ..changes import Adjusted, Behaviour, Change, Drop, Keyword
from ..formatting import format_each_row
from .sources import notes, pull

_TRAINER = ("transformers.Trainer",)
_PARSERS = ("transformers.HfArgumentParser", "trl.HfArgumentParser")
_WITH_OWN_CONFIGURATION = tuple(
    f"trl.{name}Trainer"
    for name in ("CPO", "DPO", "GKD", "GRPO", "KTO", "ORPO", "OnlineDPO", "RLOO", "Reward", "SFT")
)
_METHODS = {
    "compute_loss": "4.46.0",
    "training_step": "4.46.0",
    "log": "4.47.0",
    "_get_train_sampler": "4.52.0",
}
"""Methods that have got parameters, and the release with the last of them."""

ROWS: tuple[Change, ...] = (
    Adjusted(
        owners=("trl.SFTTrainer",),
        name="a formatting_func that returns a list, and prompts",
        adjust=rows_of_datasets.formatted_in_batches,
        gone="trl 0.16.0",
        source=notes("trl 0.16.0"),
    ),
    Behaviour(
        owners=("trl.SFTTrainer._prepare_dataset",),
        name="a formatting_func that returns a list",
        meet=format_each_row,
        gone="trl 0.16.0",
        source=notes("trl 0.16.0"),
    ),
    Adjusted(
        owners=("trl.SFTTrainer",),
        name="texts beside prompts",
        adjust=rows_of_datasets.text_column_alone,
        gone="trl 0.16.0",
        source=notes("trl 0.16.0"),
    ),
    Adjusted(
        owners=("trl.RewardTrainer",),
        name="pairs that are tokens already",
        adjust=rows_of_datasets.pairs_of_tokens,
        gone="trl 0.24.0",
        source=notes("trl 0.24.0"),
    ),
    Adjusted(
        owners=_WITH_OWN_CONFIGURATION,
        name="a model with adapters, and peft_config",
        adjust=adapters.adapters_made_already,
        gone="trl 0.26.0",
        source=notes("trl 0.26.0"),
    ),
    Adjusted(
        owners=_TRAINER,
        name="old names set on a configuration",
        adjust=arguments.set_afterwards,
        gone="transformers 4.46.0",
        source=notes("transformers 4.46.0"),
    ),
    Adjusted(
        owners=_WITH_OWN_CONFIGURATION,
        name="TrainingArguments for a trainer with a configuration of its own",
        adjust=arguments.own_configuration,
        gone="trl 0.13.0",
        source=notes("trl 0.13.0"),
    ),
    *(
        Adjusted(
            owners=_TRAINER,
            name=method,
            adjust=overrides.former_parameters,
            gone=f"transformers {release}",
            source=notes(f"transformers {release}"),
        )
        for method, release in _METHODS.items()
    ),
    *(
        Adjusted(
            owners=tuple(f"{owner}.{method}" for owner in owners),
            name="old names of settings",
            adjust=adjust,
            gone="transformers 4.46.0",
            source=notes("transformers 4.46.0"),
        )
        for owners, method, adjust in (
            (_PARSERS, "parse_args_into_dataclasses", command_lines.flags),
            (_PARSERS, "parse_dict", command_lines.keys),
            (("trl.TrlParser",), "set_defaults_with_config", command_lines.defaults),
        )
    ),
    Adjusted(
        owners=("transformers.CallbackHandler.add_callback",),
        name="callbacks with tokenizer",
        adjust=callbacks.tokenizer_for_callbacks,
        gone="transformers 5.0.0",
        since="transformers 4.46.0",
        source=pull("transformers", 32385),
    ),
    Keyword(
        owners=("transformers.Trainer._save_checkpoint",),
        name="metrics",
        action=Drop("metrics are taken from the state"),
        gone="transformers 4.47.0",
        source=notes("transformers 4.47.0"),
    ),
)

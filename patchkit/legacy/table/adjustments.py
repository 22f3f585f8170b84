"""Combinations of arguments, and classes of a script's own, that were taken and raise today."""

from __future__ import annotations

from ..adjusting import (
    adapters,
    arguments,
    callbacks,
    command_lines,
    overrides,
    rows_of_datasets,
    same_fields,
    targets,
    tokenizers,
)
from ..changes import (
    Adjusted,
    Behaviour,
    Change,
    Columns,
    Drop,
    Keyword,
    LeftOut,
    OneColumn,
    OtherParameter,
    OwnConfiguration,
    Parameters,
    Wrapped,
)
from ..formatting import format_each_row
from .sources import notes, pull

_TRAINER = ("transformers.Trainer",)
_PARSERS = ("transformers.HfArgumentParser", "trl.HfArgumentParser")
_WITH_OWN_CONFIGURATION = tuple(
    f"trl.{name}Trainer"
    for name in ("CPO", "DPO", "GKD", "GRPO", "KTO", "ORPO", "OnlineDPO", "RLOO", "Reward", "SFT")
)
_MEAN = "self.model_accepts_loss_kwargs = self.loss_is_scaled_for_ga = False"
"""A loss of a script's own is the mean of a batch, which is to be divided by their number."""
_CHATS = ("HuggingFaceH4/no_robots", "HuggingFaceH4/ultrachat_200k")
"""Datasets of conversations with their first turn in a column `prompt`, which many scripts load."""
_METHODS = {
    "4.46.0": (
        Parameters("compute_loss", ("num_items_in_batch=None",), _MEAN),
        Parameters("training_step", ("num_items_in_batch=None",)),
    ),
    "4.47.0": (Parameters("log", ("start_time=None",)),),
    "4.52.0": (Parameters("_get_train_sampler", ("train_dataset=None",)),),
}
"""Methods that have got parameters, by the release with the last of them."""

ROWS: tuple[Change, ...] = (
    Adjusted(
        owners=("trl.SFTTrainer",),
        name="a formatting_func that returns a list, and prompts",
        adjust=rows_of_datasets.formatted_in_batches,
        in_source=Wrapped("formatting_func", "patchkit.legacy.formatting.OneText"),
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
        in_source=OneColumn(
            "dataset_text_field",
            ("train_dataset", "eval_dataset"),
            unless="formatting_func",
            known=dict.fromkeys(_CHATS, "messages"),
        ),
        gone="trl 0.16.0",
        source=notes("trl 0.16.0"),
    ),
    Adjusted(
        owners=("trl.RewardTrainer",),
        name="pairs that are tokens already",
        adjust=rows_of_datasets.pairs_of_tokens,
        in_source=Columns({"input_ids_chosen": "chosen_ids", "input_ids_rejected": "rejected_ids"}),
        gone="trl 0.24.0",
        source=notes("trl 0.24.0"),
    ),
    Adjusted(
        owners=_WITH_OWN_CONFIGURATION,
        name="a model with adapters, and peft_config",
        adjust=adapters.adapters_made_already,
        in_source=LeftOut("peft_config", beside="model", made_by="peft.get_peft_model"),
        gone="trl 0.26.0",
        source=notes("trl 0.26.0"),
    ),
    Adjusted(
        owners=("peft.PeftModel",),
        name="layers of models for images by their old names",
        adjust=targets.renamed_layers,
        gone="transformers 5.9.0",
        source=notes("transformers 5.9.0"),
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
        in_source=OwnConfiguration({"trl.SFTTrainer": "transformers.TrainingArguments"}),
        gone="trl 0.13.0",
        source=notes("trl 0.13.0"),
    ),
    *(
        Adjusted(
            owners=_TRAINER,
            name=method.method,
            adjust=overrides.former_parameters,
            in_source=method,
            gone=f"transformers {release}",
            source=notes(f"transformers {release}"),
        )
        for release, methods in _METHODS.items()
        for method in methods
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
        owners=("transformers.AutoTokenizer.from_pretrained",),
        name="kinds of tokenizers",
        adjust=tokenizers.type_of_files,
        concerns=tokenizers.names_type,
        gone="transformers 5.0.0",
        source=notes("transformers 5.0.0"),
    ),
    *(
        Behaviour(
            owners=tuple(f"{owner}{method}" for owner in _PARSERS),
            name="fields that a script's dataclass has, and a library's",
            meet=same_fields.scripts_own_first,
            gone="transformers 5.0.0",
            source=notes("transformers 5.0.0"),
        )
        for method in ("", ".parse_args_into_dataclasses", ".parse_dict")
    ),
    Adjusted(
        owners=("transformers.CallbackHandler.add_callback",),
        name="callbacks with tokenizer",
        adjust=callbacks.tokenizer_for_callbacks,
        in_source=OtherParameter("on_", "tokenizer", "processing_class"),
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

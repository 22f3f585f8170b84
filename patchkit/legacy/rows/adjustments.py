"""Combinations of arguments, and classes of a script's own, that were taken and raise today."""

from __future__ import annotations

from ..changes import (
    Adjusted,
    Behaviour,
    Change,
    Columns,
    GivenToo,
    LeftOut,
    OneColumn,
    OtherParameter,
    OwnConfiguration,
    Wrapped,
)
from ..converting.adjusting import (
    adapters,
    arguments,
    command_lines,
    datasets,
    own_methods,
    tokenizers,
)
from ..converting.formatting import format_each_row
from ..sources import notes, pull

_TRAINER = ("transformers.Trainer",)
_PARSERS = ("transformers.HfArgumentParser", "trl.HfArgumentParser")
_WITH_OWN_CONFIGURATION = tuple(
    f"trl.{name}Trainer"
    for name in ("CPO", "DPO", "GKD", "GRPO", "KTO", "ORPO", "OnlineDPO", "RLOO", "Reward", "SFT")
)
_CHATS = ("HuggingFaceH4/no_robots", "HuggingFaceH4/ultrachat_200k")
"""Datasets of conversations with their first turn in a column `prompt`, which many scripts load."""

ROWS: tuple[Change, ...] = (
    Adjusted(
        owners=("trl.SFTTrainer",),
        name="a formatting_func, and prompts",
        adjust=datasets.formatted_in_batches,
        in_source=Wrapped(
            "formatting_func",
            "lambda row: {value}({name: [value] for name, value in row.items()})[0]",
            unless="rows with a column prompt are not formatted: give the trainer "
            "rows.map(lambda batch: {'text': f(batch)}, batched=True, "
            "remove_columns=rows.column_names) and no formatting_func",
        ),
        gone="trl 0.16.0",
    ),
    Behaviour(
        owners=("trl.SFTTrainer._prepare_dataset",),
        name="a formatting_func that returns a list",
        around=format_each_row,
        gone="trl 0.16.0",
    ),
    Adjusted(
        owners=("trl.SFTTrainer",),
        name="texts beside prompts",
        adjust=datasets.text_column_alone,
        in_source=OneColumn(
            "dataset_text_field",
            ("train_dataset", "eval_dataset"),
            unless="formatting_func",
            known=dict.fromkeys(_CHATS, "messages"),
        ),
        gone="trl 0.16.0",
    ),
    Adjusted(
        owners=("trl.RewardTrainer",),
        name="pairs that are tokens already",
        adjust=datasets.pairs_of_tokens,
        in_source=Columns({"input_ids_chosen": "chosen_ids", "input_ids_rejected": "rejected_ids"}),
        gone="trl 0.24.0",
    ),
    Adjusted(
        owners=_WITH_OWN_CONFIGURATION,
        name="a model with adapters, and peft_config",
        adjust=adapters.adapters_made_already,
        in_source=LeftOut("peft_config", beside="model", made_by="peft.get_peft_model"),
        gone="trl 0.26.0",
    ),
    Adjusted(
        owners=("peft.PeftModel",),
        name="layers of models for images by their old names",
        adjust=adapters.renamed_layers,
        gone="transformers 5.9.0",
    ),
    Adjusted(
        owners=("peft.PeftModel",),
        name="layers of remote code by their old names",
        adjust=adapters.renamed_layers,
        gone="transformers 4.37.0",
    ),
    Adjusted(
        owners=("peft.AdaLoraConfig",),
        name="AdaLoRA without a number of steps",
        adjust=adapters.steps_to_come,
        gone="peft 0.15.0",
    ),
    Adjusted(
        owners=("peft.OFTConfig",),
        name="a number of blocks without their size",
        adjust=adapters.counted,
        in_source=GivenToo("oft_block_size", "0", beside="r"),
        gone="peft 0.16.0",
    ),
    Adjusted(
        owners=_TRAINER,
        name="old names set on a configuration",
        adjust=arguments.set_afterwards,
        gone="transformers 4.46.0",
    ),
    Adjusted(
        owners=_WITH_OWN_CONFIGURATION,
        name="TrainingArguments for a trainer with a configuration of its own",
        adjust=arguments.own_configuration,
        in_source=OwnConfiguration({"trl.SFTTrainer": "transformers.TrainingArguments"}),
        gone="trl 0.13.0",
    ),
    Adjusted(
        owners=_WITH_OWN_CONFIGURATION,
        name="torch_dtype among what loads a model",
        adjust=arguments.dtype_of_the_model,
        gone="trl 0.27.0",
        since="trl 0.23.0",
        source=notes("trl 0.23.0"),
    ),
    Adjusted(
        owners=("trl.GKDTrainer",),
        name="torch_dtype among what loads a teacher",
        adjust=arguments.dtype_of_the_teacher,
        gone="trl 0.23.0",
    ),
    Adjusted(
        owners=("trl.GRPOTrainer", "trl.RLOOTrainer"),
        name="one processing class for several rewards",
        adjust=arguments.processing_class_for_each,
        gone="trl 0.22.0",
    ),
    Adjusted(
        owners=("transformers.TrainingArguments",),
        name="a share of the steps as warmup_steps",
        adjust=arguments.share_of_steps,
        early=True,
        gone="transformers",
        since="transformers 5.0.0",
        source=pull("transformers", 41017),
    ),
    *(
        Adjusted(
            owners=(f"trl.{trainer}Trainer",),
            name="a pad token that is not in the vocabulary",
            adjust=tokenizers.pad_token,
            gone=f"trl {release}",
        )
        for trainer, release in (("SFT", "0.16.0"), ("Reward", "0.24.0"), ("DPO", "0.29.0"))
    ),
    Adjusted(
        owners=("trl.RewardTrainer",),
        name="losses that read the sides of a pair",
        adjust=own_methods.sides_apart,
        gone="trl 0.24.0",
    ),
    *(
        Adjusted(
            owners=tuple(f"{owner}.{method}" for owner in owners),
            name="old names of settings",
            adjust=adjust,
            gone="transformers 4.46.0",
        )
        for owners, method, adjust in (
            (_PARSERS, "parse_args_into_dataclasses", command_lines.flags),
            (_PARSERS, "parse_dict", command_lines.keys),
            (("trl.TrlParser",), "set_defaults_with_config", command_lines.defaults),
        )
    ),
    Behaviour(
        owners=("trl.TrlParser.parse_args_and_config",),
        name="keys of a file of settings that no field has",
        around=command_lines.unknown_keys,
        gone="trl 0.19.0",
    ),
    Adjusted(
        owners=("transformers.AutoTokenizer.from_pretrained",),
        name="kinds of tokenizers",
        adjust=tokenizers.type_of_files,
        concerns=tokenizers.names_type,
        gone="transformers 5.0.0",
    ),
    *(
        Behaviour(
            owners=tuple(f"{owner}{method}" for owner in _PARSERS),
            name="fields that a script's dataclass has, and a library's",
            around=command_lines.scripts_own_first,
            gone="transformers 5.0.0",
        )
        for method in ("", ".parse_args_into_dataclasses", ".parse_dict")
    ),
    Adjusted(
        owners=("transformers.CallbackHandler.add_callback",),
        name="callbacks with tokenizer",
        adjust=own_methods.tokenizer_for_callbacks,
        in_source=OtherParameter("on_", "tokenizer", "processing_class"),
        gone="transformers 5.0.0",
        since="transformers 4.46.0",
        source=pull("transformers", 32385),
    ),
)

"""LLaMA-Factory: `llamafactory-cli train CONFIGURATION`."""

from __future__ import annotations

from typing import Any

from ..framework import Framework, Training

_DATASETS = {"sft": "instructions", "dpo": "pairs-of-instructions", "kto": "liked"}


def _command(training: Training) -> list[str]:
    columns = {"prompt": "instruction", "query": "input"}
    kinds: dict[str, dict[str, Any]] = {
        "sft": {"columns": {**columns, "response": "output"}},
        "dpo": {
            "ranking": True,
            "columns": {**columns, "chosen": "chosen", "rejected": "rejected"},
        },
        "kto": {"columns": {**columns, "response": "output", "kto_tag": "liked"}},
    }
    rows = training.rows(_DATASETS[training.task])
    training.write("dataset_info.json", {"tiny": {"file_name": str(rows), **kinds[training.task]}})
    options: dict[str, Any] = {
        **training.arguments(),
        "model_name_or_path": str(training.model),
        "stage": training.task,
        "do_train": True,
        "finetuning_type": training.method,
        "dataset": "tiny",
        "dataset_dir": str(training.folder),
        "template": "default",
        "cutoff_len": 64,
        "overwrite_cache": True,
        "preprocessing_num_workers": 1,
    }
    if training.lora:
        options |= {"lora_rank": 4, "lora_target": "all"}
    if training.bits:
        options |= {"quantization_bit": training.bits, "quantization_method": "bnb"}
    return ["llamafactory-cli", "train", training.write("train.yaml", options)]


FRAMEWORK = Framework(
    name="llama-factory",
    title="LLaMA-Factory",
    version_set="llama-factory",
    distributions=("llamafactory", "trl", "transformers", "peft", "accelerate"),
    tasks={"sft": ("lora", "full"), "dpo": ("lora",), "kto": ("lora",)},
    command=_command,
)

"""LLaMA-Factory: `llamafactory-cli train CONFIGURATION`."""

from __future__ import annotations

from typing import Any

from ..framework import Framework, Training

_STAGES = {"sft and head": "sft", "reward": "rm"}
_DATASETS = {
    "sft": "instructions",
    "dpo": "pairs-of-instructions",
    "rm": "pairs-of-instructions",
    "kto": "liked",
}


def _command(training: Training) -> list[str]:
    stage = _STAGES.get(training.task, training.task)
    columns = {"prompt": "instruction", "query": "input"}
    pairs = {"ranking": True, "columns": {**columns, "chosen": "chosen", "rejected": "rejected"}}
    kinds: dict[str, dict[str, Any]] = {
        "sft": {"columns": {**columns, "response": "output"}},
        "dpo": pairs,
        "rm": pairs,
        "kto": {"columns": {**columns, "response": "output", "kto_tag": "liked"}},
    }
    rows = training.rows(_DATASETS[stage])
    training.write("dataset_info.json", {"tiny": {"file_name": str(rows), **kinds[stage]}})
    options: dict[str, Any] = {
        **training.arguments(),
        "model_name_or_path": str(training.model),
        "stage": stage,
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
    if training.task == "sft and head":
        options["additional_target"] = "lm_head,embed_tokens"
    if training.bits:
        options |= {"quantization_bit": training.bits, "quantization_method": "bnb"}
    return ["llamafactory-cli", "train", training.write("train.yaml", options)]


FRAMEWORK = Framework(
    name="llama-factory",
    title="LLaMA-Factory",
    version_set="llama-factory",
    distributions=("llamafactory", "trl", "transformers", "peft", "accelerate"),
    tasks={
        "sft": ("lora", "full"),
        "sft and head": ("lora",),
        "dpo": ("lora",),
        "kto": ("lora",),
        "reward": ("lora",),
    },
    command=_command,
    start="llamafactory-cli train config.yaml",
    note="`sft and head` trains head and embedding, too",
)

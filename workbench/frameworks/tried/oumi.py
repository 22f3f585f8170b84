"""Oumi: `oumi train -c CONFIGURATION`."""

from __future__ import annotations

from typing import Any

from ..framework import STEPS, Framework, Training

_DATASETS = {"sft": ("text_sft_jsonl", "chats"), "dpo": ("text_dpo_jsonl", "pairs")}
_NOT_ITS_OWN = ("report_to", "save_strategy", "use_cpu", "fp16", "bf16")
"""Fields of `TrainingArguments` that it does not have."""


def _command(training: Training) -> list[str]:
    name, rows = _DATASETS[training.task]
    arguments = {
        name: value for name, value in training.arguments().items() if name not in _NOT_ITS_OWN
    }
    options: dict[str, Any] = {
        "model": {
            "model_name": str(training.model),
            "torch_dtype_str": "float32",  # it refuses mixed precision of any other
            "model_max_length": 64,
            "device_map": "cpu",
        },
        "data": {
            "train": {
                "datasets": [{"dataset_name": name, "dataset_path": str(training.rows(rows))}],
                "seed": 0,
            }
        },
        "training": {
            **arguments,
            "trainer_type": f"TRL_{training.task.upper()}",
            "mixed_precision_dtype": (training.mode.precision.autocast or "none").upper(),
            "use_peft": training.lora,
            "max_steps": STEPS,
            "save_steps": 0,
            "save_final_model": False,
            "enable_tensorboard": False,
            "dataloader_num_workers": 0,
            "trainer_kwargs": {"use_cpu": True},
        },
    }
    if training.lora:
        options["peft"] = {
            "lora_r": 4,
            "lora_alpha": 8,
            "lora_target_modules": ["all-linear"],
            "q_lora": bool(training.bits),
            "q_lora_bits": training.bits or 4,
            "bnb_4bit_quant_type": "nf4",
            "bnb_4bit_compute_dtype": training.dtype,
        }
    return ["oumi", "train", "-c", training.write("train.yaml", options)]


FRAMEWORK = Framework(
    name="oumi",
    title="Oumi",
    version_set="oumi",
    distributions=("oumi", "trl", "transformers", "peft", "accelerate"),
    tasks={"sft": ("lora", "full"), "dpo": ("lora",)},
    command=_command,
    start="oumi train -c config.yaml",
)

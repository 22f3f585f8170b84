"""Axolotl: `axolotl train CONFIGURATION`."""

from __future__ import annotations

from typing import Any

from ..framework import STEPS, Framework, Training

_KERNELS = ("lora_mlp_kernel", "lora_qkv_kernel", "lora_o_kernel")
"""Written in Triton, and taken by default."""
_DATASETS = {"sft": "instructions", "dpo": "pairs", "kto": "liked-completions"}
_TYPES: dict[str, Any] = {"sft": "alpaca"}
_TYPES["dpo"] = {
    "field_prompt": "prompt",
    "field_chosen": "chosen",
    "field_rejected": "rejected",
    "prompt_format": "{prompt}",
    "chosen_format": "{chosen}",
    "rejected_format": "{rejected}",
}
_TYPES["kto"] = {
    "field_prompt": "prompt",
    "field_completion": "completion",
    "field_label": "label",
    "prompt_format": "{prompt}",
    "completion_format": "{completion}",
}


def _command(training: Training) -> list[str]:
    rows = training.rows(_DATASETS[training.task])
    dataset = {"path": str(rows), "ds_type": "json", "split": "train"}
    options: dict[str, Any] = {
        "base_model": str(training.model),
        "datasets": [{**dataset, "type": _TYPES[training.task]}],
        "dataset_prepared_path": "prepared",
        "dataset_num_proc": 1,
        "val_set_size": 0,
        "output_dir": "out",
        "sequence_len": 64,
        "micro_batch_size": 2,
        "gradient_accumulation_steps": 1,
        "max_steps": STEPS,
        "num_epochs": 1,
        "optimizer": "adamw_torch",
        "lr_scheduler": "constant",
        "learning_rate": 0.001,
        "logging_steps": 1,
        "save_strategy": "no",
        "seed": 0,
        **training.mixed,
        **dict.fromkeys(_KERNELS, False),
    }
    if training.task != "sft":
        options |= {"rl": training.task, "remove_unused_columns": False}
    if training.lora:
        adapter = "qlora" if training.bits == 4 else "lora"
        options |= {"adapter": adapter, "lora_r": 4, "lora_alpha": 8, "lora_target_linear": True}
    if training.bits:
        options[f"load_in_{training.bits}bit"] = True
    return ["axolotl", "train", training.write("train.yml", options), "--launcher", "python"]


FRAMEWORK = Framework(
    name="axolotl",
    title="Axolotl",
    version_set="axolotl",
    distributions=("axolotl", "trl", "transformers", "peft", "accelerate"),
    tasks={"sft": ("lora", "full"), "dpo": ("lora",), "kto": ("lora",)},
    command=_command,
    start="axolotl train config.yml",
    note="without its Triton kernels for LoRA, which need a GPU",
)

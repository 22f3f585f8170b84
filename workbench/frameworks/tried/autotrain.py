"""AutoTrain: `autotrain --config CONFIGURATION`."""

from __future__ import annotations

from typing import Any

from ..framework import STEPS, Framework, Training

_BATCH = 2


def _command(training: Training) -> list[str]:
    rows = training.rows("texts" if training.task == "sft" else "pairs")
    (training.folder / "data").mkdir()
    # It counts epochs, not steps.
    lines = rows.read_text(encoding="utf-8").splitlines()[: _BATCH * STEPS]
    (training.folder / "data" / "train.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = {"text_column": "text"}
    if training.task != "sft":
        columns = {
            "prompt_text_column": "prompt",
            "text_column": "chosen",
            "rejected_text_column": "rejected",
        }
    options: dict[str, Any] = {
        "task": f"llm-{training.task}",
        "base_model": str(training.model),
        "project_name": "out",
        "log": "none",
        "backend": "local",
        "data": {
            "path": str(training.folder / "data"),
            "train_split": "train",
            "valid_split": None,
            "chat_template": None,
            "column_mapping": columns,
        },
        "params": {
            "block_size": 16,
            "model_max_length": 64,
            "max_prompt_length": 32,
            "epochs": 1,
            "batch_size": _BATCH,
            "gradient_accumulation": 1,
            "lr": 0.001,
            "optimizer": "adamw_torch",
            "scheduler": "linear",
            "padding": "right",
            "logging_steps": 1,
            "seed": 0,
            "peft": training.lora,
            "quantization": f"int{training.bits}" if training.bits else None,
            "target_modules": "all-linear",
            "lora_r": 4,
            "mixed_precision": training.mode.precision.autocast or None,
        },
        "hub": {"username": None, "token": None, "push_to_hub": False},
    }
    return ["autotrain", "--config", training.write("config.yml", options)]


FRAMEWORK = Framework(
    name="autotrain",
    title="AutoTrain",
    version_set="autotrain",
    distributions=("autotrain-advanced", "trl", "transformers", "peft", "accelerate"),
    tasks={"sft": ("lora", "full"), "dpo": ("lora",), "orpo": ("lora",), "reward": ("lora",)},
    command=_command,
    note="its bitsandbytes 0.45.0 needs a GPU for 4-bit layers",
    start="autotrain --config config.yml",
)

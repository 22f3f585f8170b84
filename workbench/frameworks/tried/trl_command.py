"""TRL's own command line: `trl sft …`."""

from __future__ import annotations

from typing import Any

from ..framework import Framework, Training, flags

_DATASETS = {
    "sft": "chats",
    "dpo": "pairs",
    "kto": "liked-completions",
    "reward": "pairs",
    "grpo": "prompts",
    "rloo": "prompts",
}


def dataset_folder(training: Training, name: str) -> str:
    """Lay out a dataset as a folder that `load_dataset` takes, and return its name."""
    folder = training.folder / "data"
    folder.mkdir()
    (folder / "train.jsonl").write_bytes(training.rows(name).read_bytes())
    return str(folder)


def _command(training: Training) -> list[str]:
    options: dict[str, Any] = {
        **training.arguments(),
        "model_name_or_path": training.model,
        "dtype": training.dtype,
        "dataset_name": dataset_folder(training, _DATASETS[training.task]),
    }
    if training.lora:
        options |= {"use_peft": True, "lora_r": 4, "lora_target_modules": "all-linear"}
    if training.lora and training.task == "reward":
        options["lora_task_type"] = "SEQ_CLS"
    if training.bits:
        options[f"load_in_{training.bits}bit"] = True
    if _DATASETS[training.task] == "prompts":
        options |= {
            "num_generations": 2,
            "max_completion_length": 8,
            "reward_funcs": "length.score",
        }
        (training.folder / "length.py").write_text(_REWARD, encoding="utf-8")
    return ["trl", training.task, *flags(options)]


_REWARD = """
def score(completions, **kwargs):
    return [float(len(completion[0]["content"])) for completion in completions]
"""

FRAMEWORK = Framework(
    name="trl",
    title="TRL's command line",
    version_set="newest",
    distributions=("trl", "transformers", "peft", "accelerate"),
    tasks={"sft": ("lora", "full"), **{task: ("lora",) for task in _DATASETS if task != "sft"}},
    command=_command,
    start="trl sft …",
)

"""ms-swift: `swift sft …` and `swift rlhf …`."""

from __future__ import annotations

from typing import Any

from ..framework import Framework, Training, flags

_DATASETS = {"dpo": "chats-and-rejected", "kto": "liked-chats", "grpo": "asked"}


def _command(training: Training) -> list[str]:
    options: dict[str, Any] = {
        **training.arguments(),
        "model": training.model,
        "model_type": "llama",
        "template": "chatml",
        "dataset": training.rows("chats"),
        "torch_dtype": training.dtype,
        "tuner_type": training.method,
        "warmup_ratio": 0.05,
        "max_length": 64,
        "dataset_num_proc": 1,
        "dataloader_num_workers": 0,
        "load_from_cache_file": False,
        "split_dataset_ratio": 0,
    }
    if training.lora:
        options |= {"lora_rank": 4, "target_modules": "all-linear"}
    if training.bits:
        options |= {"quant_method": "bnb", "quant_bits": training.bits}
        options["bnb_4bit_compute_dtype"] = training.dtype
    if training.task == "sft":
        return ["swift", "sft", *flags(options)]
    options |= {"rlhf_type": training.task, "dataset": training.rows(_DATASETS[training.task])}
    if training.task == "grpo":
        options |= {
            "external_plugins": "length.py",
            "reward_funcs": "length",
            "num_generations": 2,
            "max_completion_length": 8,
        }
        (training.folder / "length.py").write_text(_REWARD, encoding="utf-8")
    return ["swift", "rlhf", *flags(options)]


_REWARD = """
from swift.rewards import ORM, orms

class Length(ORM):
    def __call__(self, completions, **kwargs):
        return [float(len(completion)) for completion in completions]

orms["length"] = Length
"""

FRAMEWORK = Framework(
    name="ms-swift",
    title="ms-swift",
    version_set="ms-swift",
    distributions=("ms-swift", "trl", "transformers", "peft", "accelerate"),
    tasks={"sft": ("lora", "full"), "dpo": ("lora",), "kto": ("lora",), "grpo": ("lora",)},
    command=_command,
    start="swift sft …",
)

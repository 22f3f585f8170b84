"""Scripts in the shape of those that projects publish; each lies in the folder `scripts`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..framework import SCRIPTS, STEPS, Framework, Training, flags
from .trl_command import dataset_folder

_TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
_LOGGED = re.compile(r'^\{"loss": .*\}$', re.MULTILINE)


def _start(name: str, *words: str) -> list[str]:
    return [sys.executable, str(SCRIPTS / f"{name}.py"), *words]


def _quantized(training: Training) -> dict[str, bool]:
    return {f"load_in_{training.bits}bit": True} if training.bits else {}


def _peft(training: Training) -> dict[str, Any]:
    if not training.lora:
        return {}
    return {"use_peft": True, "lora_r": 4, "lora_alpha": 8, "lora_target_modules": _TARGETS}


def _alignment_handbook(training: Training) -> list[str]:
    recipe = {
        **training.arguments(),
        **_peft(training),
        **_quantized(training),
        "model_name_or_path": str(training.model),
        "torch_dtype": training.dtype,
        "dataset": str(training.rows("chats" if training.task == "sft" else "pairs-of-chats")),
    }
    return _start("alignment_handbook", training.task, training.write("recipe.yaml", recipe))


def _open_r1(training: Training) -> list[str]:
    recipe = {
        **training.arguments(),
        **_peft(training),
        **_quantized(training),
        "model_name_or_path": str(training.model),
        "torch_dtype": training.dtype,
        "dataset_name": dataset_folder(training, "chats" if training.task == "sft" else "prompts"),
    }
    if training.task == "sft":
        recipe |= {"max_seq_length": 64, "packing": False}
    else:
        recipe |= {"num_generations": 2, "max_prompt_length": 32, "max_completion_length": 8}
    return _start("open_r1", training.task, "--config", training.write("recipe.yaml", recipe))


def _transformers(training: Training) -> list[str]:
    options = {
        **training.arguments(),
        "model_name_or_path": training.model,
        "train_file": training.rows("texts" if training.task == "clm" else "labels"),
    }
    return _start("transformers_trainer", training.task, *flags(options))


def _peft_script(training: Training) -> list[str]:
    options = {
        **training.arguments(),
        **_quantized(training),
        "model_name_or_path": training.model,
        "train_file": training.rows("texts"),
        "dtype": training.dtype,
    }
    if training.task == "clm and head":
        options["modules_to_save"] = "lm_head,embed_tokens"
    return _start("peft_qlora", *flags(options))


def _accelerate(training: Training) -> list[str]:
    options = {
        "model": training.model,
        "train_file": training.rows("labels"),
        "dtype": training.dtype,
        "mixed_precision": training.mode.precision.autocast or "no",
        "max_steps": STEPS,
    }
    switches = ["--lora"] if training.lora else []
    switches += ["--load_in_4bit"] if training.bits == 4 else []
    return _start("accelerate_loop", *flags(options), *switches)


def _printed(folder: Path, output: str) -> Iterator[dict[str, Any]]:
    """Read what a script prints of each step."""
    return map(json.loads, _LOGGED.findall(output))


def _sentence_transformers(training: Training) -> list[str]:
    options = {
        "model": str(training.model),
        "task": training.task,
        "dataset": str(training.rows("anchors")),
        "dtype": training.dtype,
        "bits": training.bits,
        "lora": training.lora,
        "arguments": training.arguments(),
    }
    return _start("sentence_transformers_trainer", json.dumps(options))


def _setfit(training: Training) -> list[str]:
    options = {
        "model": str(training.model),
        "dataset": str(training.rows("labels")),
        "dtype": training.dtype,
        "max_steps": STEPS,
        "amp": bool(training.mixed),
    }
    return _start("setfit_trainer", json.dumps(options))


def _script(
    name: str,
    title: str,
    command: Callable[[Training], list[str]],
    tasks: Mapping[str, tuple[str, ...]],
    note: str = "",
    *,
    beside: tuple[str, ...] = (),
    logged: Callable[[Path, str], Iterator[dict[str, Any]]] | None = None,
) -> Framework:
    """Return a script as a framework; `beside` names what it imports besides the usual three."""
    distributions = (*beside, "transformers", "peft", "accelerate")
    return Framework(name, title, "newest", distributions, tasks, command, note, logged=logged)


FRAMEWORKS = (
    _script(
        "alignment-handbook",
        "the alignment-handbook's recipes",
        _alignment_handbook,
        {"sft": ("lora", "full"), "dpo": ("lora",)},
        "a script in the shape of its recipes of 2024, for TRL of that year",
        beside=("trl",),
    ),
    _script(
        "open-r1",
        "open-r1's scripts",
        _open_r1,
        {"sft": ("lora", "full"), "grpo": ("lora",)},
        "a script in the shape of its scripts of early 2025",
        beside=("trl",),
    ),
    _script(
        "transformers",
        "Transformers' examples",
        _transformers,
        {"clm": ("full",), "classification": ("full",)},
        "a script in the shape of its examples; it loads the dtype of the checkpoint",
    ),
    _script(
        "peft",
        "PEFT's examples",
        _peft_script,
        {"clm": ("lora",), "clm and head": ("lora",)},
        "a script in the shape of its examples; `clm and head` trains head and embedding, too",
    ),
    _script(
        "accelerate",
        "Accelerate's examples",
        _accelerate,
        {"classification": ("lora", "full")},
        "a training loop in the shape of its examples",
        logged=_printed,
    ),
    _script(
        "sentence-transformers",
        "sentence-transformers",
        _sentence_transformers,
        {"embedding": ("lora", "full"), "reranker": ("lora", "full")},
        beside=("sentence-transformers",),
    ),
    _script(
        "setfit",
        "SetFit",
        _setfit,
        {"classification": ("full",)},
        "it has no argument for bf16: `use_amp` is fp16",
        beside=("setfit", "sentence-transformers"),
    ),
)

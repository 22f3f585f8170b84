"""Defaults and results that changed without an error: told, or given back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .programs import forks_of, printed, run_text

pytest.importorskip("trl")

SCRIPT = """
import json, os, sys, tempfile
import torch
import patchkit
choice = json.loads(sys.argv[1])
patchkit.apply(only=[], legacy=choice)
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, SFTConfig, SFTTrainer

def saved():
    model = AutoModelForCausalLM.from_pretrained("half", dtype=torch.float32)
    with tempfile.TemporaryDirectory() as folder:
        get_peft_model(model, LoraConfig(target_modules=["q_proj"])).save_pretrained(folder)
        return sorted(name for name in os.listdir(folder) if name.startswith("adapter_model"))

def state():
    sft = SFTConfig("out", use_cpu=True, bf16=False)
    dpo = DPOConfig("out", use_cpu=True, bf16=False, learning_rate=1e-3)
    ids = tokenizer.apply_chat_template([{"role": "user", "content": "w1 w2"}])
    return {
        "sft": [sft.learning_rate, sft.gradient_checkpointing, sft.logging_steps],
        "dpo": [dpo.max_length, dpo.truncation_mode, dpo.learning_rate],
        "prompts": getattr(dpo, "max_prompt_length", None),
        "dtype": str(AutoModelForCausalLM.from_pretrained("half").dtype),
        "asked": str(AutoModelForCausalLM.from_pretrained("half", dtype=torch.float16).dtype),
        "ids": type(ids).__name__,
        "saved": saved(),
        "text": tokenizer.apply_chat_template([{"role": "user", "content": "w1"}], tokenize=False),
    }

tokenizer = AutoTokenizer.from_pretrained("half")
tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
states = [state(), state()]
if sys.argv[2] == "older":
    from transformers import AdamW
legacy = patchkit.report().to_dict()["legacy"]
patchkit.revert()
print(json.dumps({
    "states": states,
    "told": [use for use in (legacy or {"uses": []})["uses"] if use["kind"] == "told"],
    "after": state(),
}))
"""
THEN = {
    "sft": [5e-5, False, 500],
    "dpo": [512, "keep_end", 1e-3],
    "prompts": 128,
    "dtype": "torch.float32",
    "asked": "torch.float16",
    "ids": "list",
    "saved": ["adapter_model.bin"],
    "text": "w1 ",
}
TODAY = {
    "sft": [2e-5, True, 10],
    "dpo": [1024, "keep_start", 1e-3],
    "prompts": None,
    "dtype": "torch.bfloat16",
    "asked": "torch.float16",
    "ids": "BatchEncoding",
    "saved": ["adapter_model.safetensors"],
    "text": "w1 ",
}


def _is_newest() -> bool:
    from importlib.metadata import version

    from patchkit.environment import in_range

    return in_range(version("trl"), ">=0.29") and in_range(version("transformers"), ">=5")


pytestmark = pytest.mark.skipif(not _is_newest(), reason="results changed in later releases")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from patchkit.lab.tiny import build_causal_lm

    folder = tmp_path_factory.mktemp("results")
    build_causal_lm(folder / "half", dtype="bfloat16")
    return folder


def _run(choice: object, folder: Path, age: str = "today's") -> dict[str, Any]:
    forks = forks_of("on" if choice else "off")
    done = run_text(SCRIPT, json.dumps(choice), age, folder=folder, forks=forks)
    answer: dict[str, Any] = printed(done)
    answer["log"] = [line for line in done.stderr.splitlines() if line.startswith("patchkit: ")]
    return answer


def test_without_the_layer(folder: Path) -> None:
    answer = _run(False, folder)
    assert answer["states"] == [TODAY, TODAY]
    assert answer["log"] == []


def test_nothing_is_told_of_a_script_without_old_spellings(folder: Path) -> None:
    answer = _run(True, folder)
    assert answer["states"] == [TODAY, TODAY]
    assert answer["told"] == answer["log"] == []


def test_changes_are_told_once(folder: Path) -> None:
    answer = _run(True, folder, "older")
    assert answer["states"] == [TODAY, TODAY]
    told = {use["old"]: use["message"] for use in answer["told"]}
    assert {use["count"] for use in answer["told"]} == {2}
    assert told.keys() == {
        "SFTConfig",
        "DPOConfig",
        "AutoModelForCausalLM.from_pretrained",
        "apply_chat_template",
    }
    assert "learning_rate was 5e-05 until TRL 0.12.0 and is 2e-05" in told["SFTConfig"]
    assert "bf16" not in told["SFTConfig"]
    assert "truncation_mode was 'keep_end' until TRL 0.29.0" in told["DPOConfig"]
    assert "learning_rate" not in told["DPOConfig"]
    assert "write dtype=torch.float32" in told["AutoModelForCausalLM.from_pretrained"]
    assert "write return_dict=False" in told["apply_chat_template"]
    assert len(answer["log"]) == len(told) + 1


def test_the_releases_of_then_are_given_back(folder: Path) -> None:
    answer = _run("trl==0.11.4, transformers==4.44.2, peft==0.6.2", folder)
    assert answer["states"] == [THEN, THEN]
    assert answer["after"] == TODAY
    assert answer["log"] == []

"""What the demo prints of made-up outcomes."""

from __future__ import annotations

from typing import Any

import pytest

from patchkit.cli.demo.text import intro, summary

WHAT = {"trainer": "sft", "precision": "fp16", "checkpoint": "bf16", "quantization": "4bit"}
ERROR = "\"_amp_foreach_non_finite_check_and_unscale_cuda\" not implemented for 'BFloat16'"
DIED = {"ok": False, "error_type": "NotImplementedError", "error": ERROR, "steps_begun": 1}
PATCHES = [
    {"id": "trl-adapter-bf16-cast", "status": "applied"},
    {"id": "peft-lora-input-dtype", "status": "applied"},
    {"id": "trl-generation-cast", "status": "pending"},
]
TRAINED = {
    "ok": True,
    "trainer": "sft",
    "device": "cpu",
    "losses": [5.25, 4.5],
    "changed": 3,
    "dtypes": [
        {"kind": "LoRA A", "trained": True, "dtypes": {"float32": 2}},
        {"kind": "LoRA B", "trained": True, "dtypes": {"float32": 1, "bfloat16": 1}},
        {"kind": "norms", "trained": False, "dtypes": {"float16": 4}},
    ],
    "report": {"patches": PATCHES},
    "report_text": "THE REPORT",
}


def tell(without: dict[str, Any], fixed: dict[str, Any], **what: str) -> str:
    text = summary(without, fixed, {**WHAT, **what})
    assert max(map(len, text.splitlines())) <= 80
    return text


def test_what_died_and_what_trained() -> None:
    said = " ".join(tell(DIED, TRAINED).split())
    assert f"without patchkit: died in step 1 NotImplementedError: {ERROR} with patchkit" in said
    assert (
        "with patchkit: trained trained tensors: 3 float32, 1 bfloat16, 3 of them changed "
        "loss by step: 5.250 4.500" in said
    )
    assert said.index("THE REPORT") < said.index("patchkit.apply()")
    assert said.index("patchkit.apply()") < said.index("patchkit run --legacy")


def test_patches_that_know_the_error() -> None:
    heading = "Patches that know the error of the first training:\n"
    assert f"{heading}  trl-adapter-bf16-cast\n\n" in tell(DIED, TRAINED)
    pending = [{**PATCHES[0], "status": "pending"}, *PATCHES[1:]]
    assert heading not in tell(DIED, {**TRAINED, "report": {"patches": pending}})
    assert heading not in tell({**DIED, "error": "out of memory"}, TRAINED)
    assert heading not in tell(TRAINED, TRAINED)


def test_where_patchkit_did_not_help_the_report_is_shown() -> None:
    said = tell(DIED, {**DIED, "report": {"patches": PATCHES}, "report_text": "THE REPORT"})
    assert said.endswith("THE REPORT")
    assert "patchkit.apply()" not in said


def test_a_process_that_died() -> None:
    log = "the process died with status -11:\nfirst words\n" + "so on " * 40 + "\nlast words"
    said = tell({"ok": False, "error_type": "SubprocessError", "error": log}, TRAINED)
    assert "without patchkit: died, no step was done\n  SubprocessError: the process died" in said
    assert "\n  first words\n" in said
    assert "\n  last words\n" in said


def test_many_losses() -> None:
    losses = [float(number) for number in range(1000)]
    said = " ".join(tell(TRAINED, {**TRAINED, "losses": losses}).split())
    assert "loss by step: 0.000 1.000" in said
    assert "9.000 ... 990.000 991.000" in said
    assert "999.000 " in said


@pytest.mark.parametrize(
    ("device", "precision", "text"),
    [
        ("cpu", "fp16", "CUDA's fp16 path"),
        ("cpu", "bf16", "Trained on cpu."),
        ("cuda:0", "fp16", "Trained on cuda:0."),
    ],
)
def test_where_it_was_trained(device: str, precision: str, text: str) -> None:
    assert text in tell(DIED, {**TRAINED, "device": device}, precision=precision)


@pytest.mark.parametrize(
    ("trainer", "quantization", "steps", "text"),
    [
        ("sft", "4bit", 10, "SFT of a tiny bf16 Llama: LoRA on 4-bit weights, fp16, 10 steps with"),
        ("reward", "none", 1, "Reward of a tiny bf16 Llama: LoRA on unquantized weights, fp16, 1"),
    ],
)
def test_announcement(trainer: str, quantization: str, steps: int, text: str) -> None:
    said = intro({**WHAT, "trainer": trainer, "quantization": quantization}, steps)
    assert text in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 80

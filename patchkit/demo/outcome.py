"""How what came of a training is put, in text and in the picture alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Outcome = Mapping[str, Any]
"""As `patchkit.lab` prints it; one that died may lack anything but `ok`, `error_type`, `error`."""
_WEIGHTS = {"4bit": "4-bit weights", "8bit": "8-bit weights", "none": "unquantized weights"}


def subject(what: Mapping[str, str]) -> str:
    """What is trained: `SFT of a tiny Llama: LoRA on 4-bit weights, fp16`.

    Args:
        what: `trainer`, `precision` and `quantization`.
    """
    weights = _WEIGHTS[what["quantization"]]
    trainer = what["trainer"].upper() if len(what["trainer"]) <= 4 else what["trainer"].title()
    return f"{trainer} of a tiny Llama: LoRA on {weights}, {what['precision']}"


def step_of_death(outcome: Outcome) -> int:
    """The step that a training died in, or after; 0 before the first."""
    begun: int = outcome.get("steps_begun", len(outcome.get("losses", ())))
    return begun


def ending(outcome: Outcome) -> str:
    """How a training ended: `died in step 1`."""
    done = len(outcome.get("losses", ()))
    if outcome["ok"]:
        return "trained"
    step = step_of_death(outcome)
    if step > done:
        return f"died in step {step}"
    if step:
        return f"died after step {step}"
    return "died before step 1" if "steps_begun" in outcome else "died, no step was done"


def error_line(outcome: Outcome) -> str:
    """The error of one that died, in a line: `RuntimeError: …`."""
    lines = (line.strip() for line in str(outcome["error"]).splitlines())
    return f"{outcome['error_type']}: {next(filter(None, lines), '')}".rstrip(": ")


def aside(outcome: Outcome, precision: str) -> str:
    """Where a training ran, and what was put in place there."""
    device = outcome.get("device") or "cpu"
    if precision == "fp16" and device == "cpu":
        return (
            "On this CPU the training took CUDA's fp16 path: float16 autocast, a GradScaler, and "
            "the refusal of bfloat16 gradients that CUDA's unscale kernel has."
        )
    return f"Trained on {device}."

"""Put the outcome of a training into words, for text and picture alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TrainingOutcome = Mapping[str, Any]
"""As `patchkit.lab` prints it; one that died may lack all but `ok`, `error_type`, `error`."""
_WEIGHTS = {"4bit": "4-bit weights", "8bit": "8-bit weights", "none": "unquantized weights"}


def subject(setup: Mapping[str, str]) -> str:
    """Describe the setup: `SFT of a tiny bf16 Llama: LoRA on 4-bit weights, fp16`."""
    weights = _WEIGHTS[setup["quantization"]]
    trainer = setup["trainer"].upper() if len(setup["trainer"]) <= 4 else setup["trainer"].title()
    return (
        f"{trainer} of a tiny {setup['checkpoint']} Llama: LoRA on {weights}, {setup['precision']}"
    )


def step_of_death(outcome: TrainingOutcome) -> int:
    """Return the step that a training died in, or after; 0 before the first."""
    begun: int = outcome.get("steps_begun", len(outcome.get("losses", ())))
    return begun


def ending(outcome: TrainingOutcome) -> str:
    """Say how a training ended: `died in step 1`."""
    steps = len(outcome.get("losses", ()))
    if outcome["ok"]:
        return "trained"
    step = step_of_death(outcome)
    if step > steps:
        return f"died in step {step}"
    if step:
        return f"died after step {step}"
    return "died before step 1" if "steps_begun" in outcome else "died, no step was done"


def error_line(outcome: TrainingOutcome) -> str:
    """Return the error of one that died as a line: `RuntimeError: …`."""
    lines = (line.strip() for line in str(outcome["error"]).splitlines())
    return f"{outcome['error_type']}: {next(filter(None, lines), '')}".rstrip(": ")


def aside(outcome: TrainingOutcome, precision: str) -> str:
    """Say where a training ran, and what stood in for CUDA there."""
    device = outcome.get("device") or "cpu"
    if precision == "fp16" and device == "cpu":
        return (
            "On this CPU the training took CUDA's fp16 path: float16 autocast, a GradScaler, and "
            "the refusal of bfloat16 gradients that CUDA's unscale kernel has."
        )
    return f"Trained on {device}."

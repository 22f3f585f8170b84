"""fp16 QLoRA with each trainer: its crash, and a training in its place."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .parts import Row, died, one_by_one, peak, reset_peak

if TYPE_CHECKING:
    from patchkit.lab.train import Precision

TRAINERS = ("sft", "dpo", "grpo", "reward", "rloo", "kto")
CHECKPOINTS: dict[str, Precision] = {"bfloat16": "bf16", "float16": "fp16"}
STEPS = 3


def units() -> list[str]:
    return [f"{trainer} in {dtype}" for dtype in CHECKPOINTS for trainer in TRAINERS]


def rows(units: list[str]) -> Iterator[Row]:
    return one_by_one(units, _train)


def _train(unit: str) -> Row:
    from patchkit.lab import train
    from patchkit.lab.course import Course

    trainer, _, dtype = unit.partition(" in ")
    course = Course()
    reset_peak()
    with tempfile.TemporaryDirectory() as folder:
        try:
            result = train.train(
                trainer,
                precision="fp16",
                quantization="4bit",
                steps=STEPS,
                folder=Path(folder),
                checkpoint=CHECKPOINTS[dtype],
                course=course,
            )
        except Exception as error:
            return died(error, course)
    return {
        "losses": list(result.losses),
        "changed": result.changed,
        "dtypes": result.trainable_dtypes_after,
        "device": result.device,
        "seconds": result.seconds,
        **peak(),
    }

"""Trainings that do the same with patchkit as without, so that its cost is all that differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import patchkit
from patchkit.lab import cuda_fp16
from patchkit.lab import train as lab
from patchkit.lab.tiny import Quantization


@dataclass(frozen=True)
class Setup:
    """A training that works without patchkit as well.

    Args:
        trainer: its short name.
        precision: mixed precision.
        quantization: how the base model is stored.
        applied: patches whose code this training runs through.
        settings: what `apply` is told, so that the numerics are upstream's.
    """

    trainer: str
    precision: lab.Precision
    quantization: Quantization
    applied: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


_UPSTREAM = MappingProxyType({"adapter_cast": "bf16"})
_CAST, _GUARD = "trl-adapter-bf16-cast", "accelerate-gradscaler-guard"

SETUPS = {
    "sft, bf16, 4bit": Setup("sft", "bf16", "4bit", (_CAST, _GUARD), _UPSTREAM),
    "sft, fp16, none": Setup("sft", "fp16", "none", (_CAST, _GUARD)),
    "grpo, bf16, 4bit": Setup(
        "grpo", "bf16", "4bit", (_CAST, _GUARD, "trl-generation-cast"), _UPSTREAM
    ),
}


def train(
    setup: str, steps: int, folder: Path, on_step: Callable[[int, float], None] | None = None
) -> lab.TrainingResult:
    cuda_fp16.install()
    chosen = SETUPS[setup]
    return lab.train(
        chosen.trainer,
        precision=chosen.precision,
        quantization=chosen.quantization,
        steps=steps,
        folder=folder,
        on_step=on_step,
    )


@contextmanager
def patched(setup: str) -> Iterator[None]:
    """Run a `with` block under patchkit, told to keep upstream's numerics.

    At its end all must be applied that the training runs through: else it measured nothing.
    """
    chosen = SETUPS[setup]
    with patchkit.patched(strict=True, **chosen.settings):
        yield
        report = patchkit.report()
        for patch in chosen.applied:
            assert str(report[patch].status) == "applied", f"{patch} {report[patch].status}"

"""fp16 and bf16 QLoRA side by side: losses, times of a step, memory."""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .parts import Row, died, one_by_one, peak, reset_peak

WARM_UP = 2
"""Steps that are not timed, after the first."""
RECIPE = "sft-long"


def units() -> list[str]:
    return ["bf16", "fp16"]


def rows(units: list[str]) -> Iterator[Row]:
    from . import models

    words, batch, steps = (510, 8, 20) if models.is_large() else (30, 2, 5)
    models.add_recipe(RECIPE, number=4 * batch, words=words)
    with tempfile.TemporaryDirectory() as folder:
        models.save_causal_lm(Path(folder), "bfloat16")
        train = partial(_train, folder=Path(folder), batch=batch, steps=steps)
        yield from one_by_one(units, train)


def _train(precision: str, *, folder: Path, batch: int, steps: int) -> Row:
    from patchkit.lab import train
    from patchkit.lab.course import Course

    # A loss is logged after each step, and reading it waits for the device.
    ends: list[float] = []
    course = Course(lambda step, loss: ends.append(time.perf_counter()))
    reset_peak()
    try:
        result = train.train(
            RECIPE,
            precision=precision,  # type: ignore[arg-type]
            quantization="4bit",
            steps=steps,
            folder=folder,
            args={"per_device_train_batch_size": batch, "learning_rate": 1e-3},
            course=course,
        )
    except Exception as error:
        return died(error, course)
    times = [1000 * (end - begin) for begin, end in itertools.pairwise(ends)][WARM_UP:]
    return {
        "losses": list(result.losses),
        "dtypes": result.trainable_dtypes_after,
        "step_ms": [round(time, 2) for time in times],
        "median_ms": round(statistics.median(times), 2),
        "device": result.device,
        **peak(),
    }

"""Generating with a half-precision model whose norms are float32."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from .parts import Row, one_by_one, peak, reset_peak


def units() -> list[str]:
    return ["4-bit float16", "4-bit bfloat16", "bfloat16"]


def rows(units: list[str]) -> Iterator[Row]:
    from . import models

    with tempfile.TemporaryDirectory() as folder:
        path = models.save_causal_lm(Path(folder), "bfloat16")
        yield from one_by_one(units, partial(_generate, path=path))


def _generate(weights: str, *, path: Path) -> Row:
    import torch

    from patchkit.lab import shapes

    from . import models

    model = models.load(path, weights).eval()
    shapes.norms_in_float32(model)
    ids = torch.arange(4, 20, device=model.device)[None]
    new = 64 if models.is_large() else 8
    options: dict[str, Any] = {"attention_mask": torch.ones_like(ids), "do_sample": False}
    reset_peak()
    model.generate(ids, max_new_tokens=2, **options)
    started = time.perf_counter()
    tokens = model.generate(ids, max_new_tokens=new, min_new_tokens=new, **options)[0].tolist()
    took = time.perf_counter() - started
    return {"tokens": tokens, "ms_per_token": round(1000 * took / new, 2), **peak()}

"""Whether `torch.compile` takes models with adapters, and trains them alike."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from .parts import Row, one_by_one, peak, reset_peak

STEPS = 3


def units() -> list[str]:
    """Return weights and backend; without a GPU only what needs no compiler."""
    from patchkit.lab.reproduce import device

    backends = ("aot_eager", "inductor") if device() == "cuda" else ("eager",)
    return [
        f"{weights}, {backend}"
        for backend in backends
        for weights in ("bfloat16", "4-bit bfloat16", "4-bit float16")
    ]


def rows(units: list[str]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        from patchkit.lab import tiny

        path = tiny.build_causal_lm(Path(folder) / "causal-lm", dtype="bfloat16")
        yield from one_by_one(units, partial(_compare, path=path))


def _compare(unit: str, *, path: Path) -> Row:
    import torch
    from torch._dynamo.utils import counters

    weights, backend = unit.split(", ")
    eager = _losses(weights, path, lambda model: model)
    torch.compiler.reset()
    counters.clear()
    reset_peak()
    compiled = _losses(weights, path, lambda model: torch.compile(model, backend=backend))
    return {
        "losses": compiled,
        "eager": eager,
        "apart": max(abs(loss - other) for loss, other in zip(compiled, eager, strict=True)),
        "graphs": counters["stats"]["unique_graphs"],
        "breaks": sum(counters["graph_break"].values()),
        **peak(),
    }


def _losses(weights: str, path: Path, compile_model: Any) -> list[float]:
    import torch

    from . import models

    model = models.lora(models.load(path, weights), init_lora_weights=True).train()
    ids = torch.arange(4, 36, device=model.device)[None]
    optimizer = torch.optim.AdamW(
        [weight for weight in model.parameters() if weight.requires_grad], lr=1e-3
    )
    dtype = getattr(torch, weights.split()[-1])
    run = compile_model(model)
    losses = []
    for _ in range(STEPS):
        with torch.autocast(model.device.type, dtype):
            loss = run(input_ids=ids, labels=ids, use_cache=False).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss))
    return losses

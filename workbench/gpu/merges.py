"""Whether merging adapters and unmerging them gives the base back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from .parts import Row, one_by_one

PAIRS = 10


def units() -> list[str]:
    return ["4-bit bfloat16", "4-bit float16", "bfloat16"]


def rows(units: list[str]) -> Iterator[Row]:
    from . import models

    with tempfile.TemporaryDirectory() as folder:
        path = models.save_causal_lm(Path(folder), "bfloat16")
        yield from one_by_one(units, partial(_merge, path=path))


def _merge(weights: str, *, path: Path) -> Row:
    import torch

    from . import models

    model = models.lora(models.load(path, weights)).eval()
    ids = torch.arange(4, 36, device=model.device)[None]

    def logits() -> Any:
        with torch.no_grad():
            return model(input_ids=ids).logits.float()

    base, before = _base(model), logits()
    for _ in range(PAIRS):
        model.merge_adapter()
        model.unmerge_adapter()
    after = logits()
    elements = sum(tensor.numel() for tensor in base)
    changed = sum(int((old != new).sum()) for old, new in zip(base, _base(model), strict=True))
    model.merge_adapter()
    merged = logits()
    layer = model.base_model.model.model.layers[0].self_attn.q_proj.base_layer
    state = getattr(layer.weight, "quant_state", None)
    return {
        "pairs": PAIRS,
        "changed": changed / elements,
        "logits": float((after - before).abs().max()),
        "merged": float((merged - before).abs().max()),
        "largest": float(before.abs().max()),
        "quant_state": None if state is None else str(state.dtype).removeprefix("torch."),
    }


def _base(model: Any) -> list[Any]:
    """Return copies of the weights that adapters are merged into, as they would be multiplied."""
    return [
        _unpacked(module.base_layer.weight)
        for module in model.modules()
        if hasattr(module, "base_layer")
    ]


def _unpacked(weight: Any) -> Any:
    if getattr(weight, "quant_state", None) is None:
        return weight.detach().clone()
    from bitsandbytes.functional import dequantize_4bit

    return dequantize_4bit(weight.data, weight.quant_state).detach().clone()

"""Load tiny quantized models, and run a forward and backward pass through their adapters."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from patchkit.lab import tiny


def load(quantization: tiny.Quantization, *, dtype: str = "bfloat16") -> Any:
    """Load a tiny quantized Llama, with all other weights in the dtype."""
    with tempfile.TemporaryDirectory() as folder:
        path = tiny.build_causal_lm(Path(folder), dtype=dtype)
        return tiny.load(path, quantization=quantization, dtype=dtype)


def step(model: Any) -> Any:
    """Run a forward and backward pass without autocast, and return the logits.

    Raises:
        AssertionError: a trainable parameter has no gradient, or one that is not finite.
    """
    import torch

    ids = torch.arange(10, 20, device=model.device)[None]
    output = model(input_ids=ids, labels=ids)
    output.loss.backward()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None, name
            assert torch.isfinite(parameter.grad).all(), name
    return output.logits.detach()

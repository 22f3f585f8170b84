"""Check the attention that a model was told to use against its dtype and the hardware."""

from __future__ import annotations

import re
from typing import Any

from ...text import short_list
from ..facts import TrainingFacts
from ..findings import Finding, found
from ..wording import plural, precision_setting, short

_FLASH = re.compile(r"flash[_-]att")


def flash_attention_in_float32(facts: TrainingFacts) -> Finding | None:
    """Find FlashAttention in layers of float32 weights, without autocast.

    Transformers casts float32 queries to autocast's dtype, else to that of the layer's weights.
    """
    if facts.autocast is not None or facts.engine in ("deepspeed", "megatron"):
        return None
    if facts.model is None or facts.anatomy.quantized or facts.quantizer:
        return None
    layers = [
        (name, module)
        for name, module in facts.model.named_modules()
        if _FLASH.search(_implementation(module)) and _weight_dtype(module) == "float32"
    ]
    if not layers:
        return None
    dtype = "bfloat16" if facts.hardware.bfloat16 else "float16"
    return found(
        "flash-attention-in-float32",
        layers=plural(len(layers), "attention layer"),
        implementation=_implementation(layers[0][1]),
        names=short_list(name for name, _ in layers),
        setting=precision_setting(facts, dtype),
        dtype=dtype,
    )


def flash_attention_unsupported(facts: TrainingFacts) -> Finding | None:
    """Find FlashAttention on a GPU that is too old for it."""
    capability = facts.hardware.capability
    if facts.model is None or capability is None or capability >= (8, 0):
        return None
    name = _implementation(facts.model)
    if not name.startswith("flash_attention_"):
        return None
    return found("flash-attention-unsupported", implementation=name, hardware=facts.hardware)


def _implementation(module: Any) -> str:
    return str(getattr(getattr(module, "config", None), "_attn_implementation", None) or "")


def _weight_dtype(module: Any) -> str:
    """Return the dtype of an attention layer's first matrix; empty for other modules."""
    import torch

    if "attention" not in type(module).__name__.lower():
        return ""
    for layer in module.modules():
        if isinstance(layer, torch.nn.Linear):
            return short(layer.weight.dtype)
    return ""

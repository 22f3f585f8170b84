"""Check the attention that a model was told to use against its dtype and the hardware."""

from __future__ import annotations

import re
from typing import Any

from ...text import short_list
from ..facts import TrainingFacts
from ..findings import Finding, Severity
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
    return Finding(
        "flash-attention-in-float32",
        Severity.ERROR,
        f"{plural(len(layers), 'attention layer')} of float32 weights without autocast, and "
        f"attn_implementation={_implementation(layers[0][1])!r}: "
        f"{short_list(name for name, _ in layers)}",
        "FlashAttention has no float32 kernel. The first forward pass raises: `FlashAttention only "
        "support fp16 and bf16 data type`.",
        f"{precision_setting(facts, dtype)}\n"
        f'# or: from_pretrained(…, dtype=torch.{dtype}); or attn_implementation="sdpa"',
    )


def flash_attention_unsupported(facts: TrainingFacts) -> Finding | None:
    """Find FlashAttention on a GPU that is too old for it."""
    capability = facts.hardware.capability
    if facts.model is None or capability is None or capability >= (8, 0):
        return None
    name = _implementation(facts.model)
    if not name.startswith("flash_attention_"):
        return None
    return Finding(
        "flash-attention-unsupported",
        Severity.ERROR,
        f"attn_implementation={name!r}, but this is {facts.hardware}",
        "FlashAttention runs on NVIDIA's GPUs from compute capability 8.0 on, and raises: "
        "`FlashAttention only supports Ampere GPUs or newer`.",
        'from_pretrained(…, attn_implementation="sdpa")',
    )


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

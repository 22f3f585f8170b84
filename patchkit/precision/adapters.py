"""When QLoRA adapters are to be bfloat16."""

from __future__ import annotations

import os
from typing import Any

from ..settings import Setting, value
from .requested import training_dtype

ADAPTER_CAST = Setting(
    name="adapter_cast",
    choices=("off", "bf16"),
    help="off: QLoRA adapters keep the dtype PEFT gave them, float32; "
    "bf16: they become bfloat16, as upstream has it, where training is in bfloat16",
)


def bfloat16_adapters_wanted(args: Any) -> bool:
    """Whether a trainer may cast its trainable parameters to bfloat16.

    Only where training is in bfloat16, and then if the user chose it (`adapter_cast="bf16"`) or
    the parameters are to be sharded: FSDP flattens, and FSDP2 groups, parameters of one dtype
    only.

    Args:
        args: the trainer's arguments.
    """
    if training_dtype(args) != "bfloat16":
        return False
    return value(ADAPTER_CAST) == "bf16" or sharded(args)


def sharded(args: Any) -> bool:
    """Whether training runs under FSDP or DeepSpeed, as the arguments or the launcher say."""
    return bool(
        getattr(args, "fsdp", None)
        or getattr(args, "deepspeed", None)
        or _launched_with("ACCELERATE_USE_FSDP")
        or _launched_with("ACCELERATE_USE_DEEPSPEED")
    )


def _launched_with(variable: str) -> bool:
    return os.environ.get(variable, "").lower() in ("1", "true", "yes", "on", "t", "y")

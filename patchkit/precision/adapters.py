"""When QLoRA adapters are to be bfloat16."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..settings import Setting, value
from .requested import training_dtype

if TYPE_CHECKING:
    import torch

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


def may_become_bfloat16(parameter: torch.Tensor, args: Any) -> bool:
    """Whether a helper may cast this parameter: frozen ones in a bf16 run, and trained ones there
    where `bfloat16_adapters_wanted` says so.

    Args:
        parameter: a parameter of the model that is prepared.
        args: the trainer's arguments.
    """
    if parameter.requires_grad:
        return bfloat16_adapters_wanted(args)
    return training_dtype(args) == "bfloat16"


def frozen_to_bfloat16(module: torch.nn.Module) -> torch.nn.Module:
    """Cast the frozen parameters and the buffers of a module to bfloat16, in place.

    Its caller knows no arguments: whether the whole module is wanted in bfloat16 is asked of the
    setting and of the launcher.

    Args:
        module: a head or an embedding, perhaps inside a PEFT layer.

    Returns:
        the module itself.
    """
    import torch

    if value(ADAPTER_CAST) == "bf16" or sharded(None):
        return module.to(torch.bfloat16)
    for tensor in (*module.parameters(), *module.buffers()):
        if tensor.is_floating_point() and not tensor.requires_grad:
            tensor.data = tensor.data.to(torch.bfloat16)
    return module


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

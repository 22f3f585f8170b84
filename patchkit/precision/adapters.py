"""The dtype of QLoRA adapters: when they are to be bfloat16."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..settings import Setting, value
from .parameters import is_plain_float
from .requested import training_dtype

if TYPE_CHECKING:
    import torch

ADAPTER_CAST = Setting(
    name="adapter_cast",
    choices=("off", "bf16"),
    help="off: QLoRA adapters keep the dtype PEFT gave them, float32; "
    "bf16: they become bfloat16, as upstream has it, where training is in bfloat16",
)


def should_cast_adapters(args: Any) -> bool:
    """Tell whether a trainer of a quantized model casts its trainable parameters to bfloat16.

    In one process and under DDP: where training is in bfloat16 and the user chose it with
    `adapter_cast="bf16"`. FSDP flattens parameters of one dtype only, and FSDP2 wants one among
    those that a group trains; DeepSpeed's ZeRO stages 2 and 3 fail on a mixture too. So under
    either of them upstream's cast stays, but for FSDP2 in fp16, which has a plain `GradScaler`
    and cannot take a step with bfloat16 gradients.
    """
    dtype = training_dtype(args)
    if uses_deepspeed(args):
        return True
    if uses_fsdp(args):
        return not (dtype == "float16" and fsdp_version(args) == 2)
    return dtype == "bfloat16" and value(ADAPTER_CAST) == "bf16"


def parameters_to_cast(model: torch.nn.Module, args: Any) -> list[torch.nn.Parameter]:
    """Return the parameters whose trained ones a trainer casts to bfloat16.

    These are all but DoRA's magnitudes; where parameters are sharded, the magnitudes too, since
    sharding needs one dtype: see `should_cast_adapters`.
    """
    is_sharded = shards_parameters(args)
    return [
        parameter
        for name, parameter in model.named_parameters()
        if is_sharded or "lora_magnitude_vector" not in name
    ]


def may_become_bfloat16(parameter: torch.Tensor, args: Any) -> bool:
    """Tell whether a helper that prepares a model may cast this parameter.

    A frozen parameter may where training is in bfloat16; for a trained one
    `should_cast_adapters` decides.
    """
    if parameter.requires_grad:
        return should_cast_adapters(args)
    return training_dtype(args) == "bfloat16"


def cast_frozen_to_bfloat16(module: torch.nn.Module) -> torch.nn.Module:
    """Cast the frozen parameters and buffers of a head or an embedding to bfloat16, in place.

    Its caller runs only where training is in bfloat16, and has no training arguments: the setting
    and the launcher decide whether the whole module is cast.

    Returns:
        the module itself.
    """
    import torch

    if value(ADAPTER_CAST) == "bf16" or shards_parameters(None):
        return module.to(torch.bfloat16)
    for tensor in (*module.parameters(), *module.buffers()):
        if is_plain_float(tensor) and not tensor.requires_grad:
            tensor.data = tensor.data.to(torch.bfloat16)
    return module


def may_be_sharded(weight: torch.Tensor, args: Any) -> bool:
    """Tell whether a weight that is not on a GPU is waiting to be sharded.

    A weight on a CPU may simply be trained there. On the meta device it has no values yet.
    """
    return weight.device.type == "meta" or shards_parameters(args)


def shards_parameters(args: Any) -> bool:
    """Tell whether training runs under FSDP or DeepSpeed; see `uses_fsdp`."""
    return uses_deepspeed(args) or uses_fsdp(args)


def uses_fsdp(args: Any) -> bool:
    """Tell whether training runs under FSDP, as the arguments or the launcher say.

    Transformers 5 sets no variable for `TrainingArguments(fsdp=…)`, and a launcher sets no
    argument, so both are checked. Accelerate accepts no other word than `true`.
    """
    return bool(getattr(args, "fsdp", None)) or _is_true("ACCELERATE_USE_FSDP")


def uses_deepspeed(args: Any) -> bool:
    """Tell whether training runs under DeepSpeed, as the arguments or the launcher say."""
    plugin = getattr(args, "deepspeed_plugin", None)
    return plugin is not None or _is_true("ACCELERATE_USE_DEEPSPEED")


def fsdp_version(args: Any) -> int:
    """Return 1 or 2, from the arguments of Transformers 5, else from the launcher's variable."""
    version = (getattr(args, "fsdp_plugin_args", None) or {}).get("fsdp_version")
    return int(version or os.environ.get("FSDP_VERSION", "1"))


def _is_true(variable: str) -> bool:
    return os.environ.get(variable, "").lower() == "true"

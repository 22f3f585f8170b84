"""The ways to share a training among ranks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..families.modes import Mode

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Strategy:
    """One way to share a training.

    Args:
        name: on the command line.
        engine: what shares it: `ddp`, `fsdp`, `fsdp2` or `deepspeed`.
        meaning: in words.
        shards_weights: whether a rank holds only a part of the weights.
        arguments: returns its training arguments.
    """

    name: str
    engine: str
    meaning: str
    shards_weights: bool
    arguments: Callable[[], Arguments] = field(repr=False)

    def dtype(self, mode: Mode) -> str:
        """Return the dtype that a model is loaded in, by its torch name.

        What shards packed weights casts their storage as it casts other weights. So all of them
        have the dtype of the training then, as the documentation of Transformers wants.
        """
        packed = self.shards_weights and mode.quantization != "none"
        return mode.precision.compute if packed else mode.precision.checkpoint

    def storage(self, mode: Mode) -> str:
        """Return the dtype that packed weights are stored in."""
        return self.dtype(mode) if self.shards_weights else "uint8"


def _ddp() -> Strategy:
    def arguments() -> Arguments:
        return {"use_cpu": True, "ddp_find_unused_parameters": False}

    return Strategy("ddp", "ddp", "DDP: each rank has all weights", False, arguments)


def _fsdp(version: int, offload: bool) -> Strategy:
    def arguments() -> Arguments:
        # A fused optimizer, the default, refuses FSDP's scaler: pytorch/pytorch#140514.
        optimizer = {"optim": "adamw_torch"} if version == 1 else {}
        return {
            **optimizer,
            "use_cpu": False,
            "fsdp": "full_shard auto_wrap" + (" offload" if offload else ""),
            "fsdp_config": {
                "fsdp_version": version,
                "transformer_layer_cls_to_wrap": ["LlamaDecoderLayer"],
                # Accelerate wants a GPU for it; here all ranks load the same weights.
                "sync_module_states": False,
            },
        }

    engine = "fsdp2" if version == 2 else "fsdp"
    meaning = "FSDP2 (`fully_shard`)" if version == 2 else "FSDP"
    return Strategy(*_named(engine, engine, meaning, offload), True, arguments)


def _zero(stage: int, offload: bool) -> Strategy:
    def arguments() -> Arguments:
        zero: Arguments = {"stage": stage}
        if stage == 3:
            zero["stage3_gather_16bit_weights_on_model_save"] = True
        if offload:
            parts = ("optimizer", "param") if stage == 3 else ("optimizer",)
            zero |= {f"offload_{part}": {"device": "cpu"} for part in parts}
        half = {name: {"enabled": "auto"} for name in ("fp16", "bf16")}
        sizes = ("train_batch_size", "train_micro_batch_size_per_gpu")
        others = ("gradient_accumulation_steps", "gradient_clipping")
        return {
            "use_cpu": False,
            "deepspeed": {
                **dict.fromkeys((*sizes, *others), "auto"),
                **half,
                "zero_optimization": zero,
                # PyTorch's optimizer: DeepSpeed would compile its own.
                "zero_allow_untested_optimizer": True,
                "zero_force_ds_cpu_optimizer": False,
            },
        }

    meaning = f"DeepSpeed's ZeRO-{stage}"
    return Strategy(*_named(f"zero{stage}", "deepspeed", meaning, offload), stage == 3, arguments)


def _named(name: str, engine: str, meaning: str, offload: bool) -> tuple[str, str, str]:
    if offload:
        return f"{name}-offload", engine, f"{meaning} with CPU offload"
    return name, engine, meaning


STRATEGIES = {
    strategy.name: strategy
    for strategy in (
        _ddp(),
        *itertools.starmap(_fsdp, itertools.product((1, 2), (False, True))),
        *itertools.starmap(_zero, itertools.product((2, 3), (False, True))),
    )
}

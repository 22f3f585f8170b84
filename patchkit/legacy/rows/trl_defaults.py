"""Defaults of TRL's configurations that changed while the names stayed.

A trainer's own value for a field that was None stands for None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..changes import Change, Default

_FOLDER = "https://github.com/huggingface/trl/blob"
_BEGIN = "0.7.0"
_ALL = (
    "SFTConfig",
    "DPOConfig",
    "KTOConfig",
    "RewardConfig",
    "GRPOConfig",
    "RLOOConfig",
    "ORPOConfig",
    "CPOConfig",
    "OnlineDPOConfig",
    "GKDConfig",
)
_LORA_PAIR = ("DPOConfig", "ORPOConfig", "CPOConfig")
_SYNCED = ("DPOConfig", "GRPOConfig")

OF_TRAINING_ARGUMENTS: Mapping[str, Any] = {
    "learning_rate": 5e-5,
    "logging_steps": 500,
    "bf16": False,
    "gradient_checkpointing": False,
}
"""What `TrainingArguments` has for fields that have another default in TRL's configurations."""


def _default(
    owners: str | tuple[str, ...],
    name: str,
    *values: tuple[str, Any],
    needs: str = "",
    quiet: bool = False,
) -> Default:
    owners = (owners,) if isinstance(owners, str) else owners
    last = values[-1][0]
    file = owners[0].removesuffix("Config").lower() if len(owners) == 1 else "dpo"
    return Default(
        owners=tuple(f"trl.{owner}" for owner in owners),
        name=name,
        values=values,
        needs=needs,
        quiet=quiet,
        gone=f"trl {last}",
        source=f"{_FOLDER}/v{last}/trl/trainer/{file}_config.py",
    )


ROWS: tuple[Change, ...] = (
    _default(_ALL, "logging_steps", (_BEGIN, 500), ("0.19.0", 10), quiet=True),
    _default(_ALL, "bf16", (_BEGIN, False), ("0.19.0", None)),
    _default(_ALL, "gradient_checkpointing", (_BEGIN, False), ("0.22.0", True)),
    _default(_ALL, "pad_to_multiple_of", (_BEGIN, None), ("1.16.0", "auto"), quiet=True),
    _default("DistillationConfig", "pad_to_multiple_of", ("1.10.0", None), ("1.16.0", "auto")),
    _default(_ALL, "vllm_mode", (_BEGIN, "server"), ("1.0.0", "colocate"), needs="use_vllm"),
    _default(("SFTConfig", "GKDConfig"), "learning_rate", (_BEGIN, 5e-5), ("0.12.0", 2e-5)),
    _default("SFTConfig", "max_length", (_BEGIN, None), ("0.16.0", 1024), quiet=True),
    _default("SFTConfig", "completion_only_loss", (_BEGIN, False), ("0.17.0", None), quiet=True),
    _default(
        "SFTConfig", "packing_strategy", (_BEGIN, "wrapped"), ("0.19.0", "bfd"), needs="packing"
    ),
    _default(_LORA_PAIR, "learning_rate", (_BEGIN, 5e-5), ("0.12.0", 1e-6)),
    _default("DPOConfig", "max_length", (_BEGIN, 512), ("0.12.0", None), ("0.14.0", 1024)),
    _default("DPOConfig", "truncation_mode", (_BEGIN, "keep_end"), ("0.29.0", "keep_start")),
    _default(
        _SYNCED, "ref_model_mixup_alpha", (_BEGIN, 0.9), ("0.16.0", 0.6), needs="sync_ref_model"
    ),
    _default(
        _SYNCED, "ref_model_sync_steps", (_BEGIN, 64), ("0.16.0", 512), needs="sync_ref_model"
    ),
    _default("DPOConfig", "f_alpha_divergence_coef", (_BEGIN, 1.0), ("0.29.0", 0.5), quiet=True),
    _default(
        ("KTOConfig", "ORPOConfig", "CPOConfig"), "max_length", (_BEGIN, 512), ("0.14.0", 1024)
    ),
    _default("KTOConfig", "learning_rate", (_BEGIN, 5e-5), ("0.11.0", 5e-7), ("0.12.0", 1e-6)),
    _default("RewardConfig", "max_length", (_BEGIN, 512), ("0.14.0", 1024)),
    _default("RewardConfig", "learning_rate", (_BEGIN, 5e-5), ("0.24.0", 1e-4)),
    _default("RewardConfig", "disable_dropout", (_BEGIN, False), ("0.14.0", True)),
    _default(
        "RewardConfig",
        "gradient_checkpointing",
        (_BEGIN, True),
        ("0.7.11", False),
        ("0.22.0", True),
    ),
    _default("GRPOConfig", "temperature", ("0.14.0", 0.9), ("0.18.0", 1.0)),
    _default("GRPOConfig", "top_k", ("0.14.0", 50), ("0.18.0", 0)),
    _default("GRPOConfig", "beta", ("0.14.0", 0.04), ("0.19.0", 0.0)),
    _default("GRPOConfig", "loss_type", ("0.14.0", "grpo"), ("0.16.0", "bnpo"), ("0.22.0", "dapo")),
    _default(
        ("GRPOConfig", "RLOOConfig"), "max_completion_length", ("0.14.0", 256), ("1.10.0", 512)
    ),
    _default(
        "GRPOConfig", "use_bias_correction_kl", ("0.14.0", False), ("1.10.0", True), needs="beta"
    ),
    _default(
        "GRPOConfig",
        "vllm_gpu_memory_utilization",
        ("0.14.0", 0.9),
        ("0.18.0", 0.3),
        needs="use_vllm",
    ),
    _default("OnlineDPOConfig", "max_new_tokens", (_BEGIN, 53), ("0.11.0", 64)),
    _default("OnlineDPOConfig", "learning_rate", (_BEGIN, 5e-5), ("0.11.0", 5e-7)),
)

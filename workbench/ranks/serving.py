"""Prepare the processes that ranks are forks of."""

from __future__ import annotations

import contextlib
import importlib
from pathlib import Path
from typing import Any

from patchkit.lab.trainers import find

from ..families import serving

_MODULES = (
    "datasets",
    "torch.distributed.fsdp",
    "torch.distributed.tensor",
    "trl.trainer.dpo_trainer",
    "trl.trainer.grpo_trainer",
    "trl.trainer.reward_trainer",
    "trl.trainer.sft_trainer",
)


def import_libraries() -> None:
    """Import what every cell needs."""
    serving.import_libraries()
    _import()


def import_libraries_and_apply() -> None:
    """Import what every cell needs, and apply patchkit as `patchkit.apply()` does."""
    serving.import_libraries_and_apply()
    _import()


def prepare(trainers: list[str], dtypes: list[str], folder: str) -> dict[str, Any]:
    """Make the tiny models that ranks share, and return what the figures depend on.

    Args:
        trainers: the short names of trainers.
        dtypes: the dtypes of the checkpoints.
        folder: the folder for the models.

    Returns:
        versions, Python and platform.
    """
    from patchkit.environment import installed_version

    for trainer in trainers:
        for dtype in dtypes:
            find(trainer).checkpoint(Path(folder), dtype)
    found = serving.environment()
    found["versions"]["deepspeed"] = installed_version("deepspeed")
    return found


def _import() -> None:
    for name in _MODULES:
        with contextlib.suppress(Exception):  # the cell that needs it will say so
            importlib.import_module(name)
    with contextlib.suppress(Exception):
        _let_gloo_reduce()


def _let_gloo_reduce() -> None:
    """Keep DeepSpeed from compiling a reduction of its own for CPUs, which takes a minute."""
    import deepspeed

    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False

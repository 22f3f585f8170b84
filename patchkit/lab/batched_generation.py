"""Online trainers that generate in batches (paged attention, continuous batching) on a CPU."""

from __future__ import annotations

import dataclasses
from typing import Any

from patchkit.lab import trainers
from patchkit.lab.reproduce import train_in_temporary_folder
from patchkit.lab.train import TrainingResult

# Left alone, the cache takes nine tenths of the memory that there is.
_CACHE = {"num_blocks": 64, "max_batch_tokens": 64}


def train_with_batched_generation(trainer: str, **options: Any) -> TrainingResult:
    """Three steps of LoRA on an unquantized base, with real batched generation.

    Args:
        trainer: `grpo`, `rloo` or `online_dpo`.
        **options: as for `train.train`.
    """
    return train_in_temporary_folder(
        trainer, quantization="none", args=_arguments(trainer), **options
    )


def _arguments(trainer: str) -> dict[str, Any]:
    import transformers

    _, config = trainers.find(trainer).classes()
    known = {field.name for field in dataclasses.fields(config)}
    if "use_transformers_continuous_batching" in known:
        return {
            "use_transformers_continuous_batching": True,
            "transformers_continuous_batching_config": {**_CACHE, "use_cuda_graph": False},
        }
    if not hasattr(transformers, "ContinuousBatchingConfig"):
        _report_memory_of_a_cpu()
        return {"use_transformers_paged": True, "generation_kwargs": dict(_CACHE)}
    _make_small_caches_the_default()
    return {"use_transformers_paged": True}


def _report_memory_of_a_cpu() -> None:
    """Earlier Transformers find no memory on a CPU, and fail to subtract from it."""
    import torch
    from transformers.generation.continuous_batching import cache

    if not torch.cuda.is_available() and hasattr(cache, "get_device_and_memory_breakdown"):
        cache.get_device_and_memory_breakdown = lambda: (torch.device("cpu"), 2**33, 0, 0)


def _make_small_caches_the_default() -> None:
    """Releases of TRL with Transformers 5 and no argument for the cache."""
    import transformers

    config = transformers.ContinuousBatchingConfig
    init = config.__init__

    def small(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **{**_CACHE, "use_cuda_graph": False, **kwargs})

    config.__init__ = small

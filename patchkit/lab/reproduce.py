"""Provide short forms for reproducers."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from patchkit.lab import cuda_fp16, quantized, tiny, train


def train_in_temporary_folder(trainer: str, **options: Any) -> train.TrainingResult:
    """Run `train.train` on CUDA's fp16 path, in a folder that is gone afterwards."""
    tiny.go_offline()
    with cuda_fp16.cuda_fp16_on_cpu(), tempfile.TemporaryDirectory() as folder:
        return train.train(trainer, folder=Path(folder), **options)


def device() -> str:
    """Return the device that a measurement here speaks for: "cuda" if there is a GPU, or "cpu"."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def four_bit_model_with_trained_head() -> Any:
    """Make a tiny 4-bit model in bfloat16 with float32 LoRA adapters on its head, too."""
    import peft

    model = quantized.load_tiny("4bit")
    # The head is not quantized, so PEFT's copy of its dtype would be bfloat16: ask for float32.
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "lm_head"], task_type="CAUSAL_LM")
    return peft.get_peft_model(model, config, autocast_adapter_dtype=True)


def import_first(name: str, modules: Sequence[str]) -> Any:
    """Import a name from the first of some modules that has it.

    Raises:
        ImportError: none has.
    """
    for module in modules:
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise ImportError(f"{name} is in none of {', '.join(modules)}")

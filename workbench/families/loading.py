"""Load a tiny checkpoint in a mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from patchkit.lab import tiny

from .model_types import loader, pretrained
from .modes import Mode
from .quantizers import Quantizer


class Untried(Exception):
    """A cell cannot be tried here, or on this model type."""


def load(task: str, mode: Mode, checkpoints: Path) -> Any:
    """Return a model as a mode has it.

    Args:
        task: the task of the model's class.
        mode: the mode.
        checkpoints: the folder that `building.build` has filled.

    Raises:
        Untried: a library is missing, or there are no such checkpoints of this model type.
    """
    import torch
    import transformers

    folder = checkpoints / mode.precision.checkpoint
    if mode.quantizer is not None:
        return _load_quantized(task, mode.quantizer, folder, mode.precision.checkpoint)
    options: dict[str, Any] = {tiny.dtype_keyword(): "auto"}
    quantize: Any = transformers.BitsAndBytesConfig
    if mode.quantization == "4bit":
        options["quantization_config"] = quantize(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_compute_dtype=getattr(torch, mode.precision.compute),
        )
    elif mode.quantization == "8bit":
        options["quantization_config"] = quantize(load_in_8bit=True)
    return pretrained(task, folder, **options)


def _load_quantized(task: str, quantizer: Quantizer, plain: Path, dtype: str) -> Any:
    import torch
    import transformers

    obstacle = quantizer.obstacle(transformers.AutoConfig.from_pretrained(plain).model_type)
    if obstacle:
        raise Untried(obstacle)
    return quantizer.load(loader(task), plain, {tiny.dtype_keyword(): getattr(torch, dtype)})

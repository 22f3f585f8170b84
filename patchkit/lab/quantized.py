"""Checkpoints that bitsandbytes has quantized, saved and loaded again."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from patchkit.lab import tiny
from patchkit.precision.quant_state import four_bit_layers


@contextmanager
def saved_in_temporary_folder(
    *, dtype: str = "bfloat16", bits: int = 4, **options: Any
) -> Iterator[Path]:
    """A tiny quantized checkpoint in a folder that is gone after the block; see `save`."""
    with tempfile.TemporaryDirectory() as folder:
        source = tiny.build_causal_lm(Path(folder) / "plain", dtype=dtype)
        yield save(source, Path(folder) / "quantized", dtype=dtype, bits=bits, **options)


def save(source: Path, target: Path, *, dtype: str, bits: int = 4, **options: Any) -> Path:
    """Quantize a saved model and save it.

    Args:
        source: a folder with a model that is not quantized.
        target: where the quantized one goes.
        dtype: what its other weights are in, and what 4-bit layers compute in.
        bits: 4 or 8.
        **options: for `BitsAndBytesConfig`, such as `bnb_4bit_use_double_quant=True`; and
            `max_shard_size` for `save_pretrained`.

    Returns:
        the target.
    """
    shards = {key: options.pop(key) for key in ("max_shard_size",) if key in options}
    config = configuration(bits, compute_dtype=dtype if bits == 4 else None, **options)
    model = load(source, dtype=dtype, quantization_config=config)
    model.save_pretrained(target, **shards)
    return target


def load(folder: Path, *, compute_dtype: str | None = None, **options: Any) -> Any:
    """`AutoModelForCausalLM.from_pretrained`, its warnings about configurations unsaid.

    Args:
        folder: a saved model.
        compute_dtype: explicit compute dtype of 4-bit layers.
        **options: arguments of `from_pretrained`; `dtype` under its name in this release.
    """
    tiny.go_offline()
    import torch
    import transformers

    if compute_dtype is not None:
        options["quantization_config"] = configuration(4, compute_dtype=compute_dtype)
    if "dtype" in options:
        dtype = options.pop("dtype")
        known = getattr(torch, dtype, dtype) if isinstance(dtype, str) else dtype
        options[tiny.dtype_keyword()] = known
    loader: Any = options.pop("loader", transformers.AutoModelForCausalLM)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return loader.from_pretrained(folder, **options)


def configuration(bits: int = 4, *, compute_dtype: str | None = None, **options: Any) -> Any:
    """A `BitsAndBytesConfig`; without a compute dtype none is given to it."""
    import torch
    import transformers

    make: Any = transformers.BitsAndBytesConfig
    if bits == 8:
        return make(load_in_8bit=True, **options)
    if compute_dtype is not None:
        options["bnb_4bit_compute_dtype"] = getattr(torch, compute_dtype)
    return make(load_in_4bit=True, **{"bnb_4bit_quant_type": "nf4", **options})


def compute_dtypes(model: Any) -> set[str]:
    """What the 4-bit layers of a model compute in."""
    layers: Any = four_bit_layers(model)
    return {str(layer.compute_dtype) for _, layer in layers}


def dtypes_multiplied_in(model: Any, folder: Path, **arguments: Any) -> set[str]:
    """The dtypes in which 4-bit layers multiply during one training step of LoRA adapters.

    Read off the operators that bitsandbytes 0.50 and later run, and the activations given to them.

    Args:
        model: a 4-bit model.
        folder: where the Trainer may write.
        **arguments: training arguments, such as `bf16=True`.

    Raises:
        RuntimeError: none of these operators ran, so that nothing is known.
    """
    import peft
    import torch
    import transformers
    from torch.utils._python_dispatch import TorchDispatchMode

    found: set[str] = set()

    def look(_: Any, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if "gemm_4bit" in str(function):
            found.add(str(args[0].dtype))
        return function(*args, **(kwargs or {}))

    spy = type("Spy", (TorchDispatchMode,), {"__torch_dispatch__": look})
    config = peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    ids = torch.arange(4, 20)
    trainer = transformers.Trainer(
        model=peft.get_peft_model(model, config),
        args=transformers.TrainingArguments(
            str(folder),
            max_steps=1,
            use_cpu=not torch.cuda.is_available(),
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
            **arguments,
        ),
        train_dataset=[{"input_ids": ids, "labels": ids}] * 8,
    )
    with spy():
        trainer.train()
    if not found:
        raise RuntimeError("the 4-bit layers ran no operator that is known here")
    return found


def packed_bytes(model: Any) -> dict[str, Any]:
    """The packed weights of 4-bit layers as bytes, whatever dtype they are stored in."""
    import torch

    layers: Any = four_bit_layers(model)
    return {
        name: layer.weight.data.contiguous().view(torch.uint8).flatten().clone()
        for name, layer in layers
    }

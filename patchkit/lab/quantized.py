"""Save, load and run tiny models that bitsandbytes has quantized."""

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
    """Save a tiny quantized checkpoint in a folder that is removed after the block; see `save`."""
    with tempfile.TemporaryDirectory() as folder:
        source = tiny.build_causal_lm(Path(folder) / "plain", dtype=dtype)
        yield save(source, Path(folder) / "quantized", dtype=dtype, bits=bits, **options)


def save(source: Path, target: Path, *, dtype: str, bits: int = 4, **options: Any) -> Path:
    """Quantize a saved model and save it.

    Args:
        source: a folder with a model that is not quantized.
        target: the folder for the quantized one, which is returned.
        dtype: the dtype of its other weights, in which 4-bit layers compute, too.
        bits: 4 or 8.
        **options: for `BitsAndBytesConfig`, such as `bnb_4bit_use_double_quant=True`; and
            `max_shard_size` for `save_pretrained`.
    """
    shards = {key: options.pop(key) for key in ("max_shard_size",) if key in options}
    config = configuration(bits, compute_dtype=dtype if bits == 4 else None, **options)
    model = load(source, dtype=dtype, quantization_config=config)
    model.save_pretrained(target, **shards)
    return target


def load(folder: Path, *, compute_dtype: str | None = None, **options: Any) -> Any:
    """Call `AutoModelForCausalLM.from_pretrained` without its warnings about configurations.

    Args:
        folder: a saved model.
        compute_dtype: loads in 4-bit, with this explicit compute dtype of the layers.
        **options: arguments of `from_pretrained`; `dtype` under its name in this release; and
            `loader`, another class than `AutoModelForCausalLM`.
    """
    tiny.go_offline()
    import torch
    import transformers

    tiny.quantize_on_any_cpu()
    if compute_dtype is not None:
        options["quantization_config"] = configuration(4, compute_dtype=compute_dtype)
    if "dtype" in options:
        dtype = options.pop("dtype")
        dtype_value = getattr(torch, dtype, dtype) if isinstance(dtype, str) else dtype
        options[tiny.dtype_keyword()] = dtype_value
    loader: Any = options.pop("loader", transformers.AutoModelForCausalLM)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return loader.from_pretrained(folder, **options)


def reload(model: Any, **options: Any) -> Any:
    """Save a model in a folder that is gone afterwards, and load it from there."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        return load(Path(folder), **{"loader": type(model), **options})


def configuration(bits: int = 4, *, compute_dtype: str | None = None, **options: Any) -> Any:
    """Make a `BitsAndBytesConfig`, without a compute dtype if none is given."""
    import torch
    import transformers

    make: Any = transformers.BitsAndBytesConfig
    if bits == 8:
        return make(load_in_8bit=True, **options)
    if compute_dtype is not None:
        options["bnb_4bit_compute_dtype"] = getattr(torch, compute_dtype)
    return make(load_in_4bit=True, **{"bnb_4bit_quant_type": "nf4", **options})


def compute_dtypes(model: Any) -> set[str]:
    """Return the dtypes that the 4-bit layers of a model compute in."""
    layers: Any = four_bit_layers(model)
    return {str(layer.compute_dtype) for _, layer in layers}


def dtypes_multiplied_in(model: Any, folder: Path, **arguments: Any) -> set[str]:
    """Return the dtypes in which 4-bit layers multiply during one training step of LoRA adapters.

    They are those of the activations in the operators that bitsandbytes 0.50 and later run.

    Raises:
        RuntimeError: none of these operators ran.
    """
    import peft
    import torch
    import transformers
    from torch.utils._python_dispatch import TorchDispatchMode

    dtypes: set[str] = set()

    def record(_: Any, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if "gemm_4bit" in str(function):
            dtypes.add(str(args[0].dtype))
        return function(*args, **(kwargs or {}))

    spy = type("Spy", (TorchDispatchMode,), {"__torch_dispatch__": record})
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
    if not dtypes:
        raise RuntimeError("the 4-bit layers ran no known operator")
    return dtypes


def packed_bytes(model: Any) -> dict[str, Any]:
    """Return the packed weights of 4-bit layers as bytes, whatever dtype stores them."""
    import torch

    layers: Any = four_bit_layers(model)
    return {
        name: layer.weight.data.contiguous().view(torch.uint8).flatten().clone()
        for name, layer in layers
    }


def load_tiny(quantization: tiny.Quantization, *, dtype: str = "bfloat16") -> Any:
    """Load a tiny quantized Llama, with all other weights in the dtype."""
    with tempfile.TemporaryDirectory() as folder:
        path = tiny.build_causal_lm(Path(folder), dtype=dtype)
        return tiny.load(path, quantization=quantization, dtype=dtype)


def step(model: Any) -> Any:
    """Run a forward and backward pass without autocast, and return the logits.

    Raises:
        AssertionError: a trainable parameter has no gradient, or one that is not finite.
    """
    import torch

    ids = torch.arange(10, 20, device=model.device)[None]
    output = model(input_ids=ids, labels=ids)
    output.loss.backward()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None, name
            assert torch.isfinite(parameter.grad).all(), name
    return output.logits.detach()

"""In which dtype 4-bit layers multiply while a Trainer trains in half precision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import patchkit
from patchkit.lab import cuda_fp16, quantized, tiny
from patchkit.precision.quant_state import four_bit_layers

from ..due import only_if_due

PATCH = "transformers-trainer-compute-dtype"
LOADING = "transformers-prequantized-dtype"
pytestmark = only_if_due(PATCH)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Checkpoints by the dtype of their weights; the quantized ones compute in bfloat16."""
    folder = tmp_path_factory.mktemp("models")
    made = {}
    for dtype in ("bfloat16", "float16"):
        plain = made[dtype] = tiny.build_causal_lm(folder / dtype, dtype=dtype)
        made[f"4-bit {dtype}"] = folder / f"quantized-{dtype}"
        quantized.load(plain, dtype=dtype, compute_dtype="bfloat16").save_pretrained(
            made[f"4-bit {dtype}"]
        )
    return made


def computed_in(
    folder: Path,
    tmp_path: Path,
    *,
    args: dict[str, Any],
    load: dict[str, Any],
    only: tuple[str, ...] = (PATCH, LOADING),
    loaded_before: bool = False,
    apply: Any = None,
) -> str:
    """The dtype in which all 4-bit layers of one training step multiplied."""
    model = quantized.load(folder, **load) if loaded_before or not only else None
    if only:
        with patchkit.patched(only=only, strict=True, dtype=apply):
            model = quantized.load(folder, **load) if model is None else model
            found = _train(model, tmp_path, args)
    else:
        found = _train(model, tmp_path, args)
    (dtype,) = found
    return dtype.removeprefix("torch.")


def _train(model: Any, tmp_path: Path, args: dict[str, Any]) -> set[str]:
    with cuda_fp16.cuda_fp16_on_cpu():
        return quantized.dtypes_multiplied_in(model, tmp_path, **args)


DEFAULT = {"quantization_config": quantized.configuration(4)}
BF16, FP16, FULL = {"bf16": True}, {"fp16": True}, {"bf16": False}

#: Checkpoint, arguments of the training and of the loading; what the layers compute in without and
#: with the patch.
CASES = {
    "default, bf16": ("bfloat16", BF16, DEFAULT, "float32", "bfloat16"),
    "default, fp16": ("float16", FP16, DEFAULT, "float32", "float16"),
    "dtype of the loading": ("float16", BF16, {**DEFAULT, "dtype": "bfloat16"}, "float32", "bfloat16"),
    "float32 weights": ("bfloat16", BF16, {**DEFAULT, "dtype": "float32"}, "float32", "bfloat16"),
    "of the checkpoint": ("4-bit float16", FP16, {}, "bfloat16", "float16"),
    # Near misses.
    "full precision": ("bfloat16", FULL, DEFAULT, "float32", "float32"),
    "the same": ("4-bit bfloat16", BF16, {}, "bfloat16", "bfloat16"),
    "explicit, the same": ("float16", FP16, {"compute_dtype": "float16"}, "float16", "float16"),
    "explicit": ("bfloat16", BF16, {"compute_dtype": "float16"}, "float16", "float16"),
    "explicit over a checkpoint": ("4-bit float16", FP16, {"compute_dtype": "bfloat16"}, "bfloat16", "bfloat16"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_one_training_step(saved, tmp_path: Path, case: str) -> None:
    checkpoint, args, load, without, within = CASES[case]
    folder = saved[checkpoint]
    assert computed_in(folder, tmp_path, args=args, load=load, only=()) == without
    assert computed_in(folder, tmp_path, args=args, load=load) == within


@pytest.mark.parametrize(
    ("checkpoint", "load", "expected"),
    [("float16", DEFAULT, "float16"), ("4-bit float16", {}, "bfloat16")],
    ids=["default", "in half precision"],
)
def test_a_model_loaded_before_apply(saved, tmp_path, checkpoint, load, expected) -> None:
    """Who chose half precision for it is not known."""
    options = {"args": FP16, "load": load, "loaded_before": True}
    assert computed_in(saved[checkpoint], tmp_path, **options) == expected


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("load", [DEFAULT, {"compute_dtype": "bfloat16"}], ids=["", "explicit"])
def test_the_dtype_of_apply_comes_first(saved, tmp_path, load, dtype: torch.dtype) -> None:
    found = computed_in(
        saved["bfloat16"], tmp_path, args=BF16, load=load, apply=dtype, only=(PATCH,)
    )
    assert found == str(dtype)[6:]


def test_what_is_changed_and_that_parameters_are_not(saved, tmp_path: Path) -> None:
    import transformers

    model = quantized.load(saved["float16"], **DEFAULT)
    before = {
        name: (id(parameter), parameter.dtype, parameter.data_ptr())
        for name, parameter in model.named_parameters()
    }
    arguments = transformers.TrainingArguments(str(tmp_path), bf16=True, use_cpu=True, report_to=[])
    model.requires_grad_(False)
    model._hf_peft_config_loaded = True  # a Trainer asks for adapters on a quantized model
    with patchkit.patched(only=PATCH, strict=True):
        transformers.Trainer(model=model, args=arguments)
    assert quantized.compute_dtypes(model) == {"torch.bfloat16"}
    states = {layer.weight.quant_state.dtype for _, layer in four_bit_layers(model)}
    assert states == {torch.bfloat16}
    assert model.config.quantization_config.bnb_4bit_compute_dtype == torch.bfloat16
    after = {
        name: (id(parameter), parameter.dtype, parameter.data_ptr())
        for name, parameter in model.named_parameters()
    }
    assert after == before


def test_models_without_quantized_layers(saved, tmp_path: Path, caplog) -> None:
    import transformers

    model = quantized.load(saved["bfloat16"], dtype="float32")
    arguments = transformers.TrainingArguments(str(tmp_path), bf16=True, use_cpu=True, report_to=[])
    with patchkit.patched(only=PATCH, strict=True), caplog.at_level("INFO", logger="patchkit"):
        trainer = transformers.Trainer(model=model, args=arguments)
    assert trainer.model is model
    assert "4-bit" not in caplog.text

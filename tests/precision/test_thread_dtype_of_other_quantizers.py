"""`thread_dtype` on models that other libraries than bitsandbytes have quantized.

Those that are not installed are skipped: `pip install torchao hqq optimum-quanto
compressed-tensors`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import patchkit
from patchkit.lab import tiny
from workbench.families.quantizers import QUANTIZERS


def plain(folder: Path) -> Any:
    path = tiny.build_causal_lm(folder / "model")
    options: dict[str, Any] = {tiny.dtype_keyword(): torch.float16}
    return transformers.AutoModelForCausalLM.from_pretrained(path, **options)


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("torchao-int8", "torchao"),
        ("quanto-int8", "quanto"),
        ("hqq-4bit", "hqq"),
        ("compressed-tensors-int8", "compressed-tensors"),
    ],
)
def test_it_is_refused_before_anything_is_cast(tmp_path: Path, name: str, library: str) -> None:
    quantizer = QUANTIZERS[name]
    if quantizer.obstacle("llama"):
        pytest.skip(quantizer.obstacle("llama"))
    folder = tiny.build_causal_lm(tmp_path / "model")
    options = {tiny.dtype_keyword(): torch.float16}
    model = quantizer.load(transformers.AutoModelForCausalLM, folder, options)
    norm = model.model.norm.weight
    with pytest.raises(patchkit.UsageError, match=f"quantized by {library}"):
        patchkit.thread_dtype(model, torch.bfloat16)
    assert norm.dtype == torch.float16
    model(torch.arange(3, 11).unsqueeze(0))


def test_what_torchao_quantized_in_place(tmp_path: Path) -> None:
    quantization = pytest.importorskip("torchao.quantization", reason="torchao is not installed")
    model = plain(tmp_path)
    quantization.quantize_(model, quantization.Int8WeightOnlyConfig())
    with pytest.raises(patchkit.UsageError, match="quantized by torchao"):
        patchkit.thread_dtype(model, torch.bfloat16)


def test_what_quanto_quantized_in_place(tmp_path: Path) -> None:
    quanto = pytest.importorskip("optimum.quanto", reason="optimum-quanto is not installed")
    model = plain(tmp_path)
    quanto.quantize(model, weights=quanto.qint8)
    quanto.freeze(model)
    with pytest.raises(patchkit.UsageError, match="quantized by quanto"):
        patchkit.thread_dtype(model, torch.bfloat16)


def test_what_was_dequantized_is_a_plain_model(tmp_path: Path) -> None:
    quantizer = QUANTIZERS["compressed-tensors-int4-dequantized"]
    if quantizer.obstacle("llama"):
        pytest.skip(quantizer.obstacle("llama"))
    folder = tiny.build_causal_lm(tmp_path / "model")
    options = {tiny.dtype_keyword(): torch.float16}
    model = quantizer.load(transformers.AutoModelForCausalLM, folder, options)
    patchkit.thread_dtype(model, torch.bfloat16)
    assert {tensor.dtype for tensor in model.parameters()} == {torch.bfloat16}

"""What `cast_mixed_precision_params` casts, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bitsandbytes as bnb
import peft
import pytest
import torch
from peft.utils import other

import patchkit
from patchkit.lab import quantized

PATCH = "peft-packed-weight-cast"


@pytest.fixture
def patched() -> Iterator[None]:
    with patchkit.patched(only=PATCH, strict=True):
        yield


def adapted(quantization: Any) -> Any:
    """A model whose other frozen weights are float32, and whose adapter is float16."""
    model = quantized.load_tiny(quantization, dtype="float32")
    config = peft.LoraConfig(r=4, target_modules=["q_proj"], task_type="CAUSAL_LM")
    model = peft.get_peft_model(model, config)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.half()
    return model


def packed(model: Any) -> dict[str, torch.Tensor]:
    kinds = (bnb.nn.Params4bit, bnb.nn.Int8Params)
    return {
        name: parameter
        for name, parameter in model.named_parameters()
        if isinstance(parameter, kinds)
    }


@pytest.mark.parametrize("quantization", ["4bit", "8bit"])
def test_without(quantization: Any) -> None:
    model = adapted(quantization)
    other.cast_mixed_precision_params(model, torch.bfloat16)
    assert {parameter.data.dtype for parameter in packed(model).values()} != {
        _storage(quantization)
    }


@pytest.mark.parametrize("quantization", ["4bit", "8bit"])
def test_with(patched: None, quantization: Any) -> None:
    model = adapted(quantization)
    before = {name: parameter.data.clone() for name, parameter in packed(model).items()}
    assert before
    other.cast_mixed_precision_params(model, torch.bfloat16)
    for name, parameter in model.named_parameters():
        if name in before:
            assert parameter.dtype == before[name].dtype, name
            assert torch.equal(parameter.data, before[name]), name
        elif parameter.requires_grad:
            assert parameter.dtype == torch.float32, name
        else:
            assert parameter.dtype == torch.bfloat16, name


def test_bytes_packed_into_bfloat16(patched: None) -> None:
    layer = bnb.nn.Linear4bit(64, 64, bias=True, quant_type="nf4", quant_storage=torch.bfloat16).to(
        "cpu"
    )
    layer.requires_grad_(False)
    before = layer.weight.data.clone()
    other.cast_mixed_precision_params(layer, torch.float16)
    assert layer.weight.dtype == torch.bfloat16
    assert torch.equal(layer.weight.data.view(torch.uint8), before.view(torch.uint8))
    assert layer.bias.dtype == torch.float16


def test_plain_models_are_cast_as_before() -> None:
    def cast() -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4)).half()
        model[0].requires_grad_(False)
        other.cast_mixed_precision_params(model, torch.bfloat16)
        return [parameter.data for parameter in model.parameters()]

    without = cast()
    with patchkit.patched(only=PATCH, strict=True):
        after = cast()
    assert [tensor.dtype for tensor in without] == [torch.bfloat16] * 2 + [torch.float32] * 2
    assert [tensor.dtype for tensor in after] == [tensor.dtype for tensor in without]
    assert all(map(torch.equal, without, after))


def _storage(quantization: str) -> torch.dtype:
    return torch.uint8 if quantization == "4bit" else torch.int8

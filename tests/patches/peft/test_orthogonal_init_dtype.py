"""Orthogonal LoRA weights on quantized and on plain bases."""

from __future__ import annotations

from typing import Any

import peft
import pytest
import torch

import patchkit
from patchkit.lab import quantized

PATCH = "peft-orthogonal-init-dtype"
NO_FLOAT = "Only Tensors of floating point"


def patched() -> Any:
    return patchkit.patched(only=PATCH, strict=True)


def adapted(quantization: Any, dtype: str, **options: Any) -> Any:
    model = quantized.load_tiny(quantization, dtype=dtype)
    config = peft.LoraConfig(
        r=4, init_lora_weights="orthogonal", target_modules=["q_proj"], task_type="CAUSAL_LM"
    )
    torch.manual_seed(0)
    return peft.get_peft_model(model, config, **options)


def weights(model: Any) -> list[torch.Tensor]:
    return [parameter.detach() for parameter in model.parameters() if parameter.requires_grad]


@pytest.mark.parametrize("quantization", ["4bit", "8bit"])
def test_quantized_base(quantization: Any) -> None:
    with pytest.raises(RuntimeError, match=NO_FLOAT):
        adapted(quantization, "bfloat16")
    with patched():
        model = adapted(quantization, "bfloat16")
    assert {weight.dtype for weight in weights(model)} == {torch.float32}
    # A is made of the odd rows of a random rotation, and B of the even ones.
    layer = model.base_model.model.model.layers[0].self_attn.q_proj
    a, b = layer.lora_A["default"].weight.T, layer.lora_B["default"].weight.T
    assert (a @ b).abs().max() < 1e-2 * a.abs().max() * b.abs().max() * len(b)
    quantized.step(model)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("autocast", [True, False])
def test_plain_base_is_as_before(dtype: str, autocast: bool) -> None:
    without = weights(adapted("none", dtype, autocast_adapter_dtype=autocast))
    with patched():
        after = weights(adapted("none", dtype, autocast_adapter_dtype=autocast))
    assert {weight.dtype for weight in after} == {
        torch.float32 if autocast else getattr(torch, dtype)
    }
    assert all(map(torch.equal, without, after))

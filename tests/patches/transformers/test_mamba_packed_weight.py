"""Mamba with a quantized `dt_proj`, whose weight it multiplies with."""

from __future__ import annotations

import copy
from typing import Any

import peft
import pytest
import torch
import transformers
from patchkit.patches.transformers.mamba_packed_weight import TINY

import patchkit
from patchkit.lab import quantized, shapes

from ..due import only_if_due
from ..snippets import distance

ID = "transformers-mamba-packed-weight"
#: What 4-bit layers on some CPUs need to infer in training, too.
WITH_PACKING = [ID, "bitsandbytes-cpu-inference-packing"]
pytestmark = [only_if_due(ID), pytest.mark.filterwarnings("ignore")]

REFUSED = "Expected size for first two dimensions|same dtype, but got: (signed char|c10::BFloat16)"
# 8-bit layers round their activations; the bias is added in half precision and subtracted again.
ROUNDING = 0.02


@pytest.fixture(scope="module")
def plain() -> Any:
    torch.manual_seed(0)
    model = transformers.MambaForCausalLM(transformers.MambaConfig(**TINY))
    for block in model.backbone.layers:
        # Its part in the logits is too small to be seen otherwise.
        torch.nn.init.normal_(block.mixer.dt_proj.weight, std=0.1)
        torch.nn.init.normal_(block.mixer.x_proj.weight, std=0.3)
    return model


def load(plain: Any, bits: int | str) -> Any:
    if bits == "float storage":
        config = quantized.configuration(
            4, compute_dtype="bfloat16", bnb_4bit_quant_storage=torch.bfloat16
        )
    else:
        config = quantized.configuration(bits, compute_dtype="bfloat16" if bits == 4 else None)
    return quantized.reload(plain, dtype="bfloat16", quantization_config=config).eval()


@pytest.mark.parametrize("bits", [4, 8, "float storage"])
def test_logits_are_those_of_the_values(plain: Any, bits: int | str) -> None:
    model = load(plain, bits)
    expected = shapes.forward(copy.deepcopy(model).dequantize().float())
    with torch.no_grad():
        if bits != "float storage":
            with pytest.raises(RuntimeError, match=REFUSED):
                shapes.forward(copy.deepcopy(model))
        with patchkit.patched(only=WITH_PACKING, strict=True):
            logits = shapes.forward(model).float()
    assert distance(logits, expected) < ROUNDING


@pytest.mark.parametrize("bits", [4, 8])
def test_lora_on_the_layer_is_trained(plain: Any, bits: int) -> None:
    config = peft.LoraConfig(r=2, target_modules=["x_proj", "dt_proj"], init_lora_weights=False)
    model = peft.get_peft_model(load(plain, bits), config).train()
    with patchkit.patched(only=ID, strict=True):
        model(input_ids=shapes.words(), labels=shapes.words(), use_cache=False).loss.backward()
    trained = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
    assert any("dt_proj" in name for name in trained)
    for name, weight in trained.items():
        assert weight.grad is not None, name
        assert weight.grad.any(), name


def test_generation(plain: Any) -> None:
    model = load(plain, 8)
    with patchkit.patched(only=ID, strict=True):
        assert shapes.generate(model).shape == (2, 12)


@pytest.mark.parametrize("skipped", [True, False])
def test_plain_weights_are_multiplied_with_as_before(plain: Any, skipped: bool) -> None:
    """The weight of a model that is not quantized, and one that the quantizer is told to skip."""
    options: dict[str, Any] = {}
    if skipped:
        options["quantization_config"] = quantized.configuration(
            8, llm_int8_skip_modules=["dt_proj", "lm_head"]
        )
    model = quantized.reload(plain, dtype="bfloat16", **options).eval()
    with torch.no_grad():
        without = shapes.forward(model)
        with patchkit.patched(only=ID, strict=True):
            after = shapes.forward(model)
    assert torch.equal(without, after)

"""Gemma3n's AltUp clamps the values of a quantized weight, not its bytes."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import bitsandbytes as bnb
import peft
import pytest
import torch
import transformers
from packaging.version import Version
from transformers.models.gemma3n.modeling_gemma3n import Gemma3nTextAltUp

import patchkit
from patchkit.catalogue import entries as catalogue

from ..due import only_if_due

PATCH = "transformers-gemma3n-packed-clamp"
ENTRIES = catalogue.load().entries
pytestmark = only_if_due(PATCH)

COEFFICIENTS = ("prediction_coefs", "correction_coefs")
KINDS: dict[str, dict[str, Any]] = {
    "4-bit": {},
    "4-bit, double quantization": {"compress_statistics": True},
    "4-bit in float storage": {"quant_storage": torch.bfloat16},
    "8-bit": {"has_fp16_weights": False, "threshold": 6.0},
}
installed = Version(version("bitsandbytes"))
if installed < Version("0.49"):
    # On a CPU its double quantization of so few blocks crashes the interpreter.
    del KINDS["4-bit, double quantization"]
if installed < Version("0.48"):
    # On a CPU it reads no other storage than uint8.
    del KINDS["4-bit in float storage"]


def altup(clip: float = 0.5) -> Any:
    """An AltUp of eight inputs, so that its smallest weight is a whole block of 64."""
    config = transformers.Gemma3nTextConfig(
        hidden_size=64, altup_num_inputs=8, altup_coef_clip=clip
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = Gemma3nTextAltUp(config).bfloat16()
        for name in COEFFICIENTS:
            torch.nn.init.normal_(getattr(module, name).weight)
    return module.train()


def quantized(kind: str, clip: float = 0.5) -> Any:
    module = altup(clip)
    options = KINDS[kind]
    for name in COEFFICIENTS:
        plain = getattr(module, name)
        if kind == "8-bit":
            layer = bnb.nn.Linear8bitLt(
                plain.in_features, plain.out_features, bias=False, **options
            )
            weight = bnb.nn.Int8Params(plain.weight.data, requires_grad=False)
        else:
            layer = bnb.nn.Linear4bit(plain.in_features, plain.out_features, bias=False)
            weight = bnb.nn.Params4bit(
                plain.weight.data,
                requires_grad=False,
                quant_type="nf4",
                **{"compress_statistics": False, **options},
            )
        layer.weight = weight
        setattr(module, name, layer.to("cpu"))
    return module


def values(layer: Any) -> torch.Tensor:
    """The numbers that a layer multiplies with."""
    inputs = torch.eye(layer.in_features, dtype=torch.bfloat16)
    with torch.no_grad():
        return layer(inputs).t().float()


def step(module: Any) -> torch.Tensor:
    hidden = torch.randn(
        8, 1, 4, 64, generator=torch.Generator().manual_seed(1), dtype=torch.bfloat16
    ).requires_grad_()
    predicted = module.predict(hidden)
    corrected = module.correct(predicted, hidden[0] + 1)
    corrected.float().sum().backward()
    assert hidden.grad is not None
    return corrected.detach().float()


@pytest.mark.parametrize("kind", KINDS)
def test_values_beyond_the_bounds_are_clamped(kind: str) -> None:
    module, plain = quantized(kind), altup()
    before = {name: values(getattr(module, name)) for name in COEFFICIENTS}
    assert all(weight.abs().max() > 1 for weight in before.values())
    with patchkit.patched(only=PATCH, strict=True):
        found, expected = step(module), step(plain)
    for name in COEFFICIENTS:
        after = values(getattr(module, name))
        # Half of the largest gap between nf4's numbers, and of bfloat16 and double quantization.
        gap = 0.02 if kind == "8-bit" else 0.5 * 0.31 / 2 + 0.02
        assert (after - before[name].clamp(-0.5, 0.5)).abs().max() <= gap
    # Of plain weights, which were never rounded to four or eight bits, one cannot ask for less.
    assert (found - expected).norm() < (0.02 if kind == "8-bit" else 0.2) * expected.norm()
    again = {name: values(getattr(module, name)) for name in COEFFICIENTS}
    with patchkit.patched(only=PATCH, strict=True):
        assert torch.equal(step(module), found)
    assert all(torch.equal(again[name], values(getattr(module, name))) for name in COEFFICIENTS)


@pytest.mark.parametrize("kind", KINDS)
def test_values_within_the_bounds_stay_bit_for_bit(kind: str) -> None:
    module = quantized(kind, clip=8.0)
    packed = {name: getattr(module, name).weight.data.clone() for name in COEFFICIENTS}
    before = {name: values(getattr(module, name)) for name in COEFFICIENTS}
    with patchkit.patched(only=PATCH, strict=True):
        step(module)
    for name in COEFFICIENTS:
        assert torch.equal(getattr(module, name).weight.data, packed[name])
        assert torch.equal(values(getattr(module, name)), before[name])


def test_plain_weights_are_clamped_as_before() -> None:
    without = altup()
    expected = step(without)
    module = altup()
    with patchkit.patched(only=PATCH, strict=True):
        assert torch.equal(step(module), expected)
    for name in COEFFICIENTS:
        assert torch.equal(getattr(module, name).weight, getattr(without, name).weight)


@pytest.mark.parametrize("kind", ["4-bit", "8-bit"])
def test_adapters_around_quantized_coefficients_get_gradients(kind: str) -> None:
    module = quantized(kind)
    config = peft.LoraConfig(r=2, target_modules=list(COEFFICIENTS), init_lora_weights=False)
    adapted = peft.get_peft_model(module, config).train()
    with patchkit.patched(only=PATCH, strict=True):
        step(adapted.base_model.model)
    for name, parameter in adapted.named_parameters():
        if "lora_" in name:
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0, name


def test_a_compiled_step_of_plain_weights_is_one_graph() -> None:
    module = altup()
    hidden = torch.randn(8, 1, 4, 64, dtype=torch.bfloat16)
    with patchkit.patched(only=PATCH, strict=True):
        for method in (module.predict, lambda given: module.correct(given, given[0])):
            compiled = torch.compile(method, backend="eager", fullgraph=True)
            assert torch.equal(compiled(hidden), method(hidden))

"""LoHa, LoKr, DeLoRA, SHiRA and RandLoRA on quantized bases."""

from __future__ import annotations

import copy
from typing import Any

import peft
import pytest
import torch

import patchkit
from patchkit.catalogue import entries as catalogue
from patchkit.lab import quantized, shapes

from ..due import only_if_due
from ..snippets import distance

PATCH = "peft-packed-base"
#: What such a model needs besides, on some CPUs and for the dtype of its merged weights.
OTHERS = ("peft-merge-packed-base", "bitsandbytes-cpu-inference-packing")
ENTRY = catalogue.load().entries[PATCH]
pytestmark = [only_if_due(PATCH), pytest.mark.filterwarnings("ignore")]
METHODS = {"LoHaConfig": {"alpha": 8}, "LoKrConfig": {"alpha": 8}, "DeloraConfig": {}}


def adapted(model: Any, name: str) -> Any:
    if not hasattr(peft, name):
        pytest.skip(f"this PEFT has no {name}")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        options = {"r": 4, "target_modules": ["q_proj", "up_proj"], "init_weights": False}
        config = getattr(peft, name)(**options, **METHODS.get(name, {}))
        return peft.get_peft_model(model, config).eval()


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("method", METHODS)
def test_logits_are_those_of_the_values(load: Any, method: str, bits: int) -> None:
    model = load(bits)
    with torch.no_grad():
        dense = shapes.forward(adapted(copy.deepcopy(model).dequantize(), method))
        if bits == 4 or method == "DeloraConfig":
            with pytest.raises(RuntimeError, match=ENTRY.patch.symptom):
                shapes.forward(adapted(copy.deepcopy(model), method))
        with patchkit.patched(only=[PATCH, *OTHERS], strict=True):
            assert distance(shapes.forward(adapted(model, method)), dense) < 0.03


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("method", METHODS)
def test_trained_and_merged(load: Any, method: str, bits: int) -> None:
    with patchkit.patched(only=[PATCH, *OTHERS], strict=True):
        model = adapted(load(bits), method)
        quantized.step(model.train())
        with torch.no_grad():
            before = shapes.forward(model.eval())
            after = shapes.forward(model.merge_and_unload())
    # 4-bit weights are rounded again.
    assert distance(after, before) < {4: 0.5, 8: 0.06}[bits]


@pytest.mark.parametrize("method", METHODS)
def test_plain_bases_compute_as_before(saved: Any, method: str) -> None:
    folder = saved().parent / "plain-bfloat16"
    with torch.no_grad():
        without = shapes.forward(adapted(quantized.load(folder, dtype="bfloat16"), method))
        with patchkit.patched(only=PATCH, strict=True):
            after = shapes.forward(adapted(quantized.load(folder, dtype="bfloat16"), method))
    assert torch.equal(without, after)


def test_shira_on_an_8bit_base_runs_without_autocast(load: Any) -> None:
    model = load(8)
    config = peft.ShiraConfig(r=4, target_modules=["q_proj", "up_proj"])
    try:
        model = peft.get_peft_model(model, config).eval()
    except Exception:
        pytest.skip("this PEFT has no SHiRA for quantized layers")
    with torch.no_grad():
        with pytest.raises(RuntimeError, match="same dtype"):
            shapes.forward(model)
        with patchkit.patched(only=PATCH, strict=True):
            assert shapes.forward(model).isfinite().all()


@pytest.mark.parametrize("bits", [4, 8])
def test_randlora_merges_what_its_forward_computes(load: Any, bits: int) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = peft.RandLoraConfig(r=4, target_modules=["q_proj", "up_proj"])
        model = peft.get_peft_model(load(bits), config).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if "randlora_lambda" in name:
                    parameter.normal_(std=0.5)
    layers = [layer for layer in model.modules() if hasattr(layer, "get_scaled_bases")]
    assert {layer.in_features == layer.out_features for layer in layers} == {True, False}
    with patchkit.patched(only=PATCH, strict=True), torch.no_grad():
        for layer in layers:
            x = torch.randn(3, layer.in_features)
            expected = layer(x) - layer.base_layer(x)
            delta = layer.get_delta_weight("default").float()
            assert distance(x @ delta.T, expected) < 0.02

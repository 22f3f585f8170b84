"""Adapters that know plain weights only, merged into 8-bit and 4-bit bases."""

from __future__ import annotations

import copy
from typing import Any

import bitsandbytes as bnb
import peft
import pytest
import torch

import patchkit
from patchkit.lab import quantized, shapes
from patchkit.precision.quant_state import dtype_of

from ..due import only_if_due

PATCH = "peft-merge-packed-base"
pytestmark = [only_if_due(PATCH), pytest.mark.filterwarnings("ignore")]

#: In 4-bit LoHa, LoKr and HRA cannot compute; HRA in 8-bit multiplies with packed bytes.
KINDS: dict[str, dict[str, Any]] = {
    "C3AConfig": {"block_size": 16},
    "FourierFTConfig": {"n_frequency": 400},
    "WaveFTConfig": {"n_frequency": 400},
    "GraloraConfig": {"r": 4},
    "VBLoRAConfig": {"r": 4, "num_vectors": 16, "vector_length": 8},
}
ONLY_8_BIT: dict[str, dict[str, Any]] = {
    "LoHaConfig": {"r": 4},
    "LoKrConfig": {"r": 4},
    "HRAConfig": {"r": 4},
}
PAIRS = [*((kind, bits) for kind in KINDS for bits in (4, 8)), *((kind, 8) for kind in ONLY_8_BIT)]
LAYERS = ["q_proj", "up_proj"]
REFUSED = "output type Char|must match the size of tensor"
#: Rounding of 8-bit weights, and half of the widest gap between two values of NF4, with bfloat16's.
ERRORS = {8: 0.01, 4: 0.16}


@pytest.fixture(params=PAIRS, ids=lambda pair: f"{pair[0]}-{pair[1]}")
def pair(request: pytest.FixtureRequest) -> tuple[str, int]:
    kind, bits = request.param
    if not hasattr(peft, kind):
        pytest.skip(f"PEFT {peft.__version__} has no {kind}")
    return kind, bits


def adapted(model: Any, kind: str) -> Any:
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        options = {**KINDS, **ONLY_8_BIT}[kind]
        config = getattr(peft, kind)(task_type="CAUSAL_LM", target_modules=LAYERS, **options)
        model = peft.get_peft_model(model, config).eval()
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.normal_()
    return model


def layers(model: Any) -> dict[str, Any]:
    return {
        name: module for name, module in model.named_modules() if hasattr(module, "merged_adapters")
    }


def values(layer: Any) -> torch.Tensor:
    """The values of a base's weight, as bitsandbytes dequantizes them."""
    base = layer.get_base_layer()
    weight = base.weight
    if isinstance(weight, bnb.nn.Params4bit):
        return bnb.functional.dequantize_4bit(weight.data, weight.quant_state).float()
    scales = weight.SCB if weight.SCB is not None else base.state.SCB
    return weight.data.float() * scales[:, None] / 127


def merged_in_float32(layer: Any) -> torch.Tensor:
    """The merged weight of a layer, from its values in a plain base."""
    plain = copy.deepcopy(layer)
    base = layer.get_base_layer()
    plain.base_layer = torch.nn.Linear(base.in_features, base.out_features, bias=False)
    plain.base_layer.weight.data = values(layer)
    plain.merge()
    merged: torch.Tensor = plain.base_layer.weight.data
    return merged


@pytest.mark.parametrize("has_run", [True, False])
def test_merged_weights_are_the_sum(load: Any, pair: tuple[str, int], has_run: bool) -> None:
    kind, bits = pair
    model = adapted(load(bits), kind)
    if has_run:  # The first forward of an 8-bit layer moves what is known of its weight.
        with torch.no_grad():
            shapes.forward(copy.deepcopy(model)) if bits == 4 else shapes.forward(model)
    before = {name: merged_in_float32(layer) for name, layer in layers(model).items()}
    with patchkit.patched(only=PATCH, strict=True):
        model.merge_adapter()
    for name, layer in layers(model).items():
        error = (values(layer) - before[name]).abs().max() / before[name].abs().max()
        assert error.item() < ERRORS[bits], name
        assert layer.merged_adapters == ["default"]
        if bits == 4:
            assert dtype_of(layer.get_base_layer().weight.quant_state) is torch.bfloat16


def test_without_it_the_adapter_is_lost_or_the_merge_raises(
    load: Any, pair: tuple[str, int]
) -> None:
    kind, bits = pair
    model = adapted(load(bits), kind)
    if kind in ("HRAConfig", "C3AConfig") and bits == 8:
        expected = {name: merged_in_float32(layer) for name, layer in layers(model).items()}
        model.merge_adapter()
        for name, layer in layers(model).items():
            error = (values(layer) - expected[name]).abs().max() / expected[name].abs().max()
            assert error.item() > 10 * ERRORS[bits], name
        return
    with pytest.raises(RuntimeError, match=REFUSED):
        model.merge_adapter()


def test_unmerged_by_subtraction(load: Any, pair: tuple[str, int]) -> None:
    kind, bits = pair
    model = adapted(load(bits), kind)
    before = {name: values(layer) for name, layer in layers(model).items()}
    merged = {name: merged_in_float32(layer) for name, layer in layers(model).items()}
    with patchkit.patched(only=PATCH, strict=True):
        model.merge_adapter()
        model.unmerge_adapter()
    for name, layer in layers(model).items():
        # What was rounded was the merged weight, and its largest value says how far.
        error = (values(layer) - before[name]).abs().max() / merged[name].abs().max()
        assert error.item() < 2 * ERRORS[bits], name
        assert not layer.merged_adapters


@pytest.mark.parametrize("bits", [4, 8])
def test_exact_unmerge_puts_the_packed_weights_back(load: Any, bits: int) -> None:
    model = adapted(load(bits), "C3AConfig")
    before = {name: layer.get_base_layer().weight for name, layer in layers(model).items()}
    packed = {name: weight.data.clone() for name, weight in before.items()}
    with patchkit.patched(only=[PATCH, "peft-exact-unmerge"], strict=True):
        model.merge_adapter()
        model.unmerge_adapter()
    for name, layer in layers(model).items():
        assert layer.get_base_layer().weight is before[name]
        assert torch.equal(before[name].data, packed[name])


@pytest.mark.parametrize("bits", [4, 8])
def test_a_refused_merge_leaves_the_layer_as_it_was(load: Any, bits: int) -> None:
    model = adapted(load(bits), "C3AConfig")
    found = layers(model)
    before = {name: layer.get_base_layer().weight for name, layer in found.items()}
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data.fill_(float("nan"))
    with (
        patchkit.patched(only=PATCH, strict=True),
        pytest.raises(ValueError, match="NaNs detected in the merged weights"),
    ):
        model.merge_adapter(safe_merge=True)
    for name, layer in found.items():
        assert layer.get_base_layer().weight is before[name]
        assert not layer.merged_adapters


def test_plain_bases_are_merged_as_before(saved: Any) -> None:
    folder = saved().parent / "plain-bfloat16"
    merged = []
    for only in ([], [PATCH]):
        with patchkit.patched(only=only, strict=True):
            model = adapted(quantized.load(folder, dtype="bfloat16").eval(), "C3AConfig")
            merged.append(shapes.forward(model.merge_and_unload()))
    assert torch.equal(*merged)

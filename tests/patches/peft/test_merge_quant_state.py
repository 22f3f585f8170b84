"""Quant states after adapters were merged into 4-bit bases, and taken out again."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import bitsandbytes as bnb
import peft
import pytest
import torch

import patchkit
from patchkit.lab import quantized

from ..due import only_if_due

PATCH = "peft-merge-quant-state"
pytestmark = [only_if_due(PATCH), pytest.mark.filterwarnings("ignore:(Merge|Unmerge|Save)")]

LORA = {"r": 4, "target_modules": ["q_proj"], "init_lora_weights": False}
#: Adapters with the configuration of each; those that a release does not have are skipped. The sum
#: of some is cast by PEFT itself.
ADAPTERS: dict[str, tuple[str, dict[str, Any]]] = {
    "lora": ("LoraConfig", LORA),
    "rslora": ("LoraConfig", {**LORA, "use_rslora": True}),
    "road": ("RoadConfig", {"target_modules": ["q_proj"], "init_weights": False}),
    "hira": ("HiraConfig", {"r": 4, "target_modules": ["q_proj"]}),
    "dora": ("LoraConfig", {**LORA, "use_dora": True}),
    "oft": ("OFTConfig", {"oft_block_size": 8, "target_modules": ["q_proj"]}),
}
VERSION = tuple(int(part) for part in peft.__version__.split(".")[:2])
CAST_BY_PEFT = ("dora",) if VERSION < (0, 20) else ("dora", "oft")
if VERSION[:2] == (0, 20):
    del ADAPTERS["oft"]  # its 4-bit layers cannot be made


def adapted(folder: Path, kind: str, dtype: str = "bfloat16", **options: Any) -> Any:
    name, arguments = ADAPTERS[kind]
    if not hasattr(peft, name):
        pytest.skip(f"PEFT {peft.__version__} has no {name}")
    config = getattr(peft, name)(**arguments)
    model = quantized.load(folder, dtype=dtype)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return peft.get_peft_model(model, config, **options)


def weight_of(model: Any) -> Any:
    layer = model.get_base_model() if hasattr(model, "get_base_model") else model
    projection = layer.model.layers[0].self_attn.q_proj
    return getattr(projection, "base_layer", projection).weight


def patched() -> Any:
    return patchkit.patched(only=PATCH, strict=True)


@pytest.mark.parametrize("kind", ADAPTERS)
def test_merged_and_unmerged(saved, kind: str) -> None:
    def merge() -> tuple[list[torch.dtype], list[torch.Tensor]]:
        model = adapted(saved(), kind)
        dtypes, bits = [], []
        for step in (model.merge_adapter, model.unmerge_adapter):
            step()
            dtypes.append(weight_of(model).quant_state.dtype)
            bits.append(weight_of(model).data.clone())
        return dtypes, bits

    without, expected = merge()
    with patched():
        dtypes, bits = merge()
    assert without[0] == (torch.bfloat16 if kind in CAST_BY_PEFT else torch.float32)
    assert dtypes == [torch.bfloat16, torch.bfloat16]
    # The sum is quantized as before.
    assert torch.equal(bits[0], expected[0])


def test_merged_for_good(saved) -> None:
    with patched():
        model = adapted(saved(), "lora").merge_and_unload()
    assert weight_of(model).quant_state.dtype == torch.bfloat16
    assert model.dequantize().model.layers[0].self_attn.q_proj.weight.dtype == torch.bfloat16


def test_the_state_of_the_module_is_the_same_one(saved) -> None:
    with patched():
        model = adapted(saved(), "lora").merge_and_unload()
    layer = model.model.layers[0].self_attn.q_proj
    assert layer.quant_state is layer.weight.quant_state


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_several_adapters_at_once(saved, dtype: str) -> None:
    with patched():
        model = adapted(saved(dtype), "lora", dtype)
        model.add_adapter("other", peft.LoraConfig(**LORA))
        model.merge_adapter(["default", "other"])
        assert weight_of(model).quant_state.dtype == getattr(torch, dtype)
        model.unmerge_adapter()
        assert weight_of(model).quant_state.dtype == getattr(torch, dtype)


def test_double_quantization(saved) -> None:
    with patched():
        model = adapted(saved(bnb_4bit_use_double_quant=True), "lora")
        model.merge_adapter()
    state = weight_of(model).quant_state
    assert state.dtype == torch.bfloat16
    assert state.state2.dtype == torch.float32


def test_adapters_in_the_dtype_of_the_base(saved) -> None:
    """A bfloat16 sum has a bfloat16 state anyway."""

    def merge() -> Any:
        model = adapted(saved(), "lora")
        for name, parameter in model.named_parameters():
            if "lora_" in name:
                parameter.data = parameter.data.bfloat16()
        model.merge_adapter()
        return weight_of(model)

    without = merge()
    with patched():
        weight = merge()
    assert weight.quant_state.dtype == without.quant_state.dtype == torch.bfloat16
    assert torch.equal(weight.data, without.data)


def test_a_float32_state_stays_float32(saved) -> None:
    with patched():
        model = adapted(saved("float32"), "lora", "float32")
        model.merge_adapter()
    assert weight_of(model).quant_state.dtype == torch.float32


def test_eight_bit_and_plain_bases(saved) -> None:
    def merge(folder: Path) -> torch.Tensor:
        model = adapted(folder, "lora")
        model.merge_adapter()
        return weight_of(model).data

    for folder in (saved(bits=8), saved().parent / "plain-bfloat16"):
        expected = merge(folder)
        with patched():
            assert torch.equal(merge(folder), expected)


def test_refused_where_the_sum_is_not_finite(saved) -> None:
    with patched():
        model = adapted(saved(), "lora")
        for name, parameter in model.named_parameters():
            if "lora_A" in name:
                parameter.data.fill_(torch.nan)
        before = weight_of(model)
        with pytest.raises(ValueError, match="NaN"):
            model.merge_adapter(safe_merge=True)
    assert weight_of(model) is before
    assert before.quant_state.dtype == torch.bfloat16


def test_an_exact_revert() -> None:
    layer = importlib.import_module("peft.tuners.lora.bnb").Linear4bit
    before = layer.merge.__code__, layer.unmerge.__code__
    with patched():
        assert layer.merge.__code__ is not before[0]
    assert (layer.merge.__code__, layer.unmerge.__code__) == before


def test_weights_that_are_not_quantized() -> None:
    from patchkit.precision.quant_state import requantized_like

    plain = torch.nn.Parameter(torch.zeros(2))
    packed = bnb.nn.Linear4bit(64, 64, quant_type="nf4").to("cpu").weight
    before = packed.quant_state.dtype
    assert requantized_like(packed, plain) is plain
    assert requantized_like(plain, packed) is packed
    assert packed.quant_state.dtype == before

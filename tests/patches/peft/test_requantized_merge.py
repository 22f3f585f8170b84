"""4-bit bases that RandLoRA, PVeRA and VeRA were merged into."""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path
from typing import Any

import bitsandbytes as bnb
import peft
import pytest
import torch

import patchkit
from patchkit.lab import quantized
from patchkit.precision.quant_state import dtype_of, four_bit_layers

from ..due import only_if_due

PATCH = "peft-4bit-merge-requantized"
#: Those that edit the same functions.
NEIGHBOURS = (PATCH, "peft-exact-unmerge", "peft-merge-quant-state")
#: Those that such a model needs in evaluation.
OTHERS = ("bitsandbytes-cpu-inference-packing", "peft-quantized-output-dtype")
pytestmark = [only_if_due(PATCH), pytest.mark.filterwarnings("ignore:(Merge|Unmerge|Save|Already)")]

VERSION = tuple(int(part) for part in peft.__version__.split(".")[:2])
KINDS = {"randlora": "RandLoraConfig", "pvera": "PveraConfig", "vera": "VeraConfig"}
TOKENS = torch.arange(4, 20)[None]
#: Half of the widest gap between two values of NF4, with the rounding of bfloat16.
NF4_ERROR = 0.16


def configuration(kind: str) -> Any:
    if not hasattr(peft, KINDS[kind]):
        pytest.skip(f"PEFT {peft.__version__} has no {KINDS[kind]}")
    config: Any = getattr(peft, KINDS[kind])
    return config(target_modules=["q_proj"], init_weights=False)


def adapted(folder: Path, kind: str, dtype: str = "bfloat16") -> Any:
    config = configuration(kind)
    model = quantized.load(folder, dtype=dtype)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return peft.get_peft_model(model, config).eval()


def layer_of(model: Any) -> Any:
    model = model.get_base_model() if hasattr(model, "get_base_model") else model
    return model.model.layers[0].self_attn.q_proj


def weight_of(model: Any) -> Any:
    layer = layer_of(model)
    return getattr(layer, "base_layer", layer).weight


def numbers(weight: Any) -> torch.Tensor:
    return bnb.functional.dequantize_4bit(weight.data, weight.quant_state).float()


def float_sum(model: Any) -> torch.Tensor:
    """Add the adapter of the first layer to its numbers, in float32."""
    return numbers(weight_of(model)) + layer_of(model).get_delta_weight("default").detach().float()


def error(weight: Any, expected: torch.Tensor) -> float:
    """Return the largest error of a weight, by the largest number of its block."""
    differences = (numbers(weight) - expected).reshape(-1, weight.blocksize).abs()
    largest = expected.reshape(-1, weight.blocksize).abs().amax(1, keepdim=True)
    return (differences / largest).max().item()


def patched(*others: str) -> Any:
    return patchkit.patched(only=[PATCH, *others], strict=True)


def is_due(kind: str) -> bool:
    return kind != "vera" or VERSION < (0, 20)


@pytest.mark.parametrize("for_good", [False, True])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_merged(saved, kind: str, dtype: str, *, for_good: bool) -> None:
    def merge() -> tuple[Any, torch.Tensor]:
        model = adapted(saved(dtype), kind, dtype)
        expected = float_sum(model)
        if for_good:
            model = model.merge_and_unload()
        else:
            model.merge_adapter()
        return model, expected

    with patched():
        model, expected = merge()
        weight = weight_of(model)
        assert weight.dtype == torch.uint8
        assert weight.bnb_quantized
        assert not weight.requires_grad
        assert error(weight, expected) < NF4_ERROR
        with torch.no_grad():
            assert model(TOKENS).logits.isfinite().all()
    if is_due(kind):
        with pytest.raises((RuntimeError, TypeError)), torch.no_grad():
            merge()[0](TOKENS)


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_are_those_of_the_float_sum(saved, kind: str) -> None:
    with patched(), torch.no_grad():
        model = adapted(saved("float32"), kind, "float32")
        expected = float_sum(model)
        merged = model.merge_and_unload()
        inputs = torch.randn(8, expected.shape[1], generator=torch.Generator().manual_seed(0))
        outputs = layer_of(merged)(inputs)
    errors = outputs - torch.nn.functional.linear(inputs, expected)
    assert errors.norm() < 0.1 * outputs.norm()


@pytest.mark.parametrize("kind", KINDS)
def test_unmerged_by_subtraction(saved, kind: str) -> None:
    with patched():
        model = adapted(saved(), kind)
        before, merged = numbers(weight_of(model)), float_sum(model)
        model.merge_adapter()
        model.unmerge_adapter()
        weight = weight_of(model)
    assert weight.dtype == torch.uint8
    # Both halves of the pair round.
    assert (numbers(weight) - before).abs().max() < 2 * NF4_ERROR * merged.abs().max()


@pytest.mark.parametrize("kind", KINDS)
def test_the_quant_state_has_the_dtype_of_the_base(saved, kind: str) -> None:
    folder = saved(bnb_4bit_use_double_quant=True)
    with patched("peft-merge-quant-state"):
        model = adapted(folder, kind)
        for step in (model.merge_adapter, model.unmerge_adapter):
            step()
            state = weight_of(model).quant_state
            assert state.dtype == torch.bfloat16
            assert state.nested
            assert state.state2.dtype == torch.float32
            assert layer_of(model).base_layer.quant_state is state


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded(saved, kind: str, tmp_path: Path) -> None:
    """The way of a user: save the adapter, load it, generate, merge, save and load the model."""
    with patched(*NEIGHBOURS[1:], *OTHERS), torch.no_grad():
        adapted(saved(), kind).save_pretrained(tmp_path / "adapter")
        # Transformers 5.23 does not save what was loaded in 4-bit already.
        four_bit = quantized.configuration(4, compute_dtype="bfloat16")
        plain = saved().parent / "plain-bfloat16"
        base = quantized.load(plain, dtype="bfloat16", quantization_config=four_bit)
        model = peft.PeftModel.from_pretrained(base, tmp_path / "adapter").eval()
        if kind != "pvera" or VERSION >= (0, 20):
            model.generate(input_ids=TOKENS, max_new_tokens=2, do_sample=False)
        expected = float_sum(model)
        merged = model.merge_and_unload()
        assert error(weight_of(merged), expected) < NF4_ERROR
        merged.save_pretrained(tmp_path / "merged")
        again = quantized.load(tmp_path / "merged", dtype="bfloat16").eval()
        packed = quantized.packed_bytes(again)
        for name, numbers_saved in quantized.packed_bytes(merged).items():
            assert torch.equal(packed[name], numbers_saved), name
        assert torch.equal(again(TOKENS).logits, merged.eval()(TOKENS).logits)
        layers: Any = four_bit_layers(merged)
        assert {dtype_of(layer.weight.quant_state) for _, layer in layers} == {torch.bfloat16}


@pytest.mark.parametrize("kind", KINDS)
def test_exact_unmerge(saved, kind: str) -> None:
    def pairs() -> tuple[Any, Any]:
        model = adapted(saved(), kind)
        before = weight_of(model)
        attributes, packed = dict(vars(before)), before.data.clone()
        for _ in range(3):
            model.merge_adapter()
            assert weight_of(model).dtype == torch.uint8
            model.unmerge_adapter()
        assert weight_of(model) is before
        assert vars(before) == attributes
        assert torch.equal(before.data, packed)

    with patched("peft-exact-unmerge"):
        pairs()
    with patched(*NEIGHBOURS[1:], *OTHERS):
        pairs()


def test_refused_where_the_sum_is_not_finite(saved) -> None:
    with patched():
        model = adapted(saved(), "randlora")
        for name, parameter in model.named_parameters():
            if "randlora_lambda" in name:
                parameter.data.fill_(torch.nan)
        before = weight_of(model)
        attributes = dict(vars(before))
        with pytest.raises(ValueError, match="NaN"):
            model.merge_adapter(safe_merge=True)
    assert weight_of(model) is before
    assert vars(before) == attributes


def test_the_old_weight_stays_as_it_is(saved) -> None:
    with patched():
        model = adapted(saved(), "randlora")
        before = weight_of(model)
        attributes = dict(vars(before))
        model.merge_adapter()
    assert weight_of(model) is not before
    assert vars(before) == attributes
    assert numbers(before).isfinite().all()


@pytest.mark.parametrize("coming", list(itertools.permutations(NEIGHBOURS)))
def test_any_order_of_coming_and_going(coming: tuple[str, ...]) -> None:
    layer = importlib.import_module("peft.tuners.randlora.bnb").Linear4bit
    originals = layer.merge.__code__, layer.unmerge.__code__
    # peft-exact-unmerge edits the model of these layers.
    helpers = {
        "peft-4bit-merge-requantized": "to_be_quantized",
        "peft-merge-quant-state": "requantized_like",
    }
    for going in itertools.permutations(NEIGHBOURS):
        for name in coming:
            patchkit.apply(only=name, strict=True)
        present = set(coming)
        for name in going:
            for patch, helper in helpers.items():
                assert (helper in layer.merge.__code__.co_names) == (patch in present)
            patchkit.revert(name)
            present.remove(name)
        assert (layer.merge.__code__, layer.unmerge.__code__) == originals

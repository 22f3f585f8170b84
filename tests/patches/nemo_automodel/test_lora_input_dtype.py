"""NeMo Automodel's LoRA layers and inputs of other dtypes: plain, DoRA and quantized."""

from __future__ import annotations

import inspect

import pytest
import torch
from patchkit.patches.nemo_automodel._linear_lora import in_dtype_of_layer
from torch import nn

import patchkit

from ..due import only_if_due

ID = "nemo-automodel-lora-input-dtype"

pytestmark = only_if_due(ID)


def make(kind: str = "plain", dtype=torch.bfloat16, **options):
    """A layer whose adapter does something, and whose base is of that dtype or packed."""
    from nemo_automodel.components._peft.lora import LinearLoRA, patch_linear_module

    known = inspect.signature(LinearLoRA).parameters
    if unknown := options.keys() - known.keys():
        pytest.skip(f"this release has no {', '.join(unknown)}")
    torch.manual_seed(0)
    options = {"dim": 4, "alpha": 8, **options}
    if kind == "plain":
        layer = LinearLoRA(nn.Linear(64, 64).to(dtype), **options)
    elif kind == "patched":
        layer = patch_linear_module(nn.Linear(64, 64).to(dtype), use_triton=False, **options)
    else:
        import bitsandbytes

        storage = torch.bfloat16 if kind == "4bit-in-bfloat16" else torch.uint8
        base = bitsandbytes.nn.Linear4bit(
            64, 64, compute_dtype=dtype, quant_type="nf4", quant_storage=storage
        )
        base = base.to(dtype).to("cpu")
        layer = patch_linear_module(base, use_triton=False, lora_dtype=dtype, **options)
    nn.init.normal_(layer.lora_B.weight)
    return layer


CASES = {
    "plain": {},
    "float16": {"dtype": torch.float16},
    "float32_and_a_half_input": {"dtype": torch.float32},
    "dropout_first": {"dropout": 0.5, "dropout_position": "pre"},
    "dropout_last": {"dropout": 0.5},
    "dora": {"use_dora": True},
    "dora_dropout_first": {"use_dora": True, "dropout": 0.5, "dropout_position": "pre"},
    "not_memory_efficient": {"use_memory_efficient_lora": False},
    "patched": {"kind": "patched"},
    "4bit": {"kind": "4bit"},
    "4bit_in_bfloat16": {"kind": "4bit-in-bfloat16"},
}


@pytest.mark.parametrize("shape", [(3, 64), (2, 3, 64)], ids=["two_axes", "three_axes"])
@pytest.mark.parametrize("case", CASES)
def test_another_dtype(case: str, shape: tuple[int, ...]) -> None:
    """Fails without; with it gives what the input gives that was cast by hand, gradients too."""
    layer = make(**CASES[case])
    dtype = layer.lora_A.weight.dtype
    x = torch.randn(shape).to(torch.float32 if dtype.itemsize == 2 else torch.bfloat16)
    x.requires_grad_()
    with pytest.raises(RuntimeError, match="have the same dtype"):
        layer(x)

    def run(given):
        layer.zero_grad()
        x.grad = None
        torch.manual_seed(1)
        output = layer(given)
        output.float().square().sum().backward()
        gradients = [parameter.grad for parameter in layer.parameters() if parameter.requires_grad]
        return output.detach(), x.grad, *gradients

    expected = run(x.to(dtype))
    with patchkit.patched(only=ID, strict=True):
        found = run(x)
    assert found[0].dtype == dtype
    assert found[1].dtype == x.dtype
    for tensor, other in zip(found, expected, strict=True):
        assert torch.equal(tensor, other)


@pytest.mark.parametrize("case", sorted(CASES.keys() - {"float32_and_a_half_input"}))
def test_nothing_changes_where_dtypes_agree(case: str) -> None:
    layer = make(**CASES[case]).eval()
    x = torch.randn(3, 64).to(layer.lora_A.weight.dtype)
    before = layer(x)
    with patchkit.patched(only=ID, strict=True):
        after = layer(x)
    assert before.dtype == after.dtype
    assert torch.equal(before, after)


@pytest.mark.parametrize("autocast", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("case", ["plain", "dora", "4bit"])
def test_nothing_changes_under_autocast(case: str, autocast) -> None:
    layer = make(**CASES[case]).eval()
    x = torch.randn(3, 64)
    with torch.autocast("cpu", autocast):
        before = layer(x)
        with patchkit.patched(only=ID, strict=True):
            after = layer(x)
    assert before.dtype == after.dtype
    assert torch.equal(before, after)


def test_the_input_itself_where_there_is_nothing_to_cast() -> None:
    layer = make()
    numbers = torch.arange(16)
    half = torch.randn(1, 64).bfloat16()
    assert in_dtype_of_layer(layer, numbers) is numbers
    assert in_dtype_of_layer(layer, half) is half


def test_an_eight_bit_float_is_packed() -> None:
    layer = make()
    layer.weight.data = layer.weight.data.to(torch.float8_e4m3fn)
    assert in_dtype_of_layer(layer, torch.randn(1, 64)).dtype == torch.bfloat16


def test_an_adapter_of_another_dtype_is_another_matter() -> None:
    """What upstream raises there stays: its output would need a cast as well."""
    layer = make(lora_dtype=torch.float32, dim=2)
    with patchkit.patched(only=ID, strict=True), pytest.raises(RuntimeError, match="same dtype"):
        layer(torch.randn(3, 64).bfloat16())


ROUNDING = {"rtol": 2**-6, "atol": 2**-5}
"""Under compilation the layer multiplies in another way."""


def test_compiled_in_one_graph_where_it_was() -> None:
    layer = make().eval()
    x = torch.randn(2, 3, 64)
    with patchkit.patched(only=ID, strict=True):
        compiled = torch.compile(layer, backend="eager", fullgraph=True)
        half = x.bfloat16()
        torch.testing.assert_close(compiled(half), layer(half), **ROUNDING)
        with torch.autocast("cpu", torch.bfloat16):
            torch.testing.assert_close(compiled(x), layer(x), **ROUNDING)


def test_compiled() -> None:
    layer = make().eval()
    x = torch.randn(2, 3, 64)
    with patchkit.patched(only=ID, strict=True):
        compiled = torch.compile(layer, backend="eager")
        torch.testing.assert_close(compiled(x), layer(x), **ROUNDING)


def test_references_pickles_and_the_way_back() -> None:
    import copy
    import pickle

    from nemo_automodel.components._peft.lora import LinearLoRA

    layer = make()
    code, forward = LinearLoRA.forward.__code__, layer.forward
    with patchkit.patched(only=ID, strict=True):
        for copied in (layer, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
            assert copied(torch.randn(2, 64)).dtype == torch.bfloat16
        assert forward(torch.randn(2, 64)).dtype == torch.bfloat16
    assert LinearLoRA.forward.__code__ is code

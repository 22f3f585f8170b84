"""LoRA layers and inputs of another dtype than their base weight."""

from __future__ import annotations

import contextlib
import copy
import pickle

import pytest
import torch
from torch import nn

import patchkit

from ..due import only_if_due

ID = "peft-lora-input-dtype"

pytestmark = only_if_due(ID)

REFUSED = "same dtype|should be the same"


class Net(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x, **kwargs):
        return self.layer(x, **kwargs)


def conv1d() -> nn.Module:
    from transformers.pytorch_utils import Conv1D

    return Conv1D(16, 16)


BASES = {
    "linear": lambda: nn.Linear(16, 16, bias=False),
    "linear_with_bias": lambda: nn.Linear(16, 16),
    "conv2d": lambda: nn.Conv2d(3, 4, 3),
    "conv1d": lambda: nn.Conv1d(3, 4, 3),
    "gpt2_conv1d": conv1d,
}
SHAPES = {"conv2d": (2, 3, 8, 8), "conv1d": (2, 3, 8)}


def make(base: str = "linear", dtype=torch.bfloat16, adapters: int = 1, **options):
    """A model of one layer whose adapters do something, and whose base has that dtype."""
    import peft

    torch.manual_seed(0)
    options = {"r": 4, "target_modules": ["layer"], "init_lora_weights": False, **options}
    layer = BASES[base]() if isinstance(base, str) else base
    layer = layer.to(dtype) if dtype is not None else layer
    model = peft.get_peft_model(Net(layer), peft.LoraConfig(**options))
    for number in range(1, adapters):
        model.add_adapter(f"adapter{number}", peft.LoraConfig(**options))
    return model


def both(model) -> None:
    model.base_model.set_adapter(["default", "adapter1"])


CASES = {
    "linear": {},
    "linear_with_bias": {"base": "linear_with_bias"},
    "float16": {"dtype": torch.float16},
    "float32_and_a_half_input": {"dtype": torch.float32},
    "rslora": {"use_rslora": True},
    "dropout": {"lora_dropout": 0.5},
    "dora": {"use_dora": True},
    "dora_with_bias_and_dropout": {
        "base": "linear_with_bias",
        "use_dora": True,
        "lora_dropout": 0.5,
    },
    "conv2d": {"base": "conv2d"},
    "conv1d": {"base": "conv1d"},
    "dora_conv2d": {"base": "conv2d", "use_dora": True},
    "gpt2_conv1d": {"base": "gpt2_conv1d", "fan_in_fan_out": True},
}
STATES = {
    "adapter": contextlib.nullcontext,
    "two_adapters": both,
    "merged": lambda model: model.merge_adapter(),
    "disabled": lambda model: model.base_model.disable_adapter_layers(),
}


def run(model, x, **kwargs):
    model.zero_grad()
    x.grad = None
    torch.manual_seed(1)
    output = model(x, **kwargs)
    output.float().square().sum().backward()
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    return [output.detach(), x.grad, *gradients]


def cast_by_hand(model):
    """What users do without the patch: a hook on the base layer."""

    def cast(layer, args):
        return (args[0].to(layer.weight.dtype), *args[1:])

    (base,) = [module.base_layer for module in model.modules() if hasattr(module, "base_layer")]
    return base.register_forward_pre_hook(cast)


def same(found, expected) -> None:
    for tensor, other in zip(found, expected, strict=True):
        if tensor is not None or other is not None:
            assert tensor.dtype == other.dtype
            assert torch.equal(tensor, other)


@pytest.mark.parametrize("case", CASES)
def test_another_dtype(case: str) -> None:
    """Fails without; with it gives what a hook on the base layer gives, gradients too."""
    options = CASES[case]
    dtype = options.get("dtype", torch.bfloat16)
    outcomes = []
    for state, prepare in STATES.items():
        model = make(adapters=1 + (state == "two_adapters"), **options)
        prepare(model)
        x = torch.randn(SHAPES.get(options.get("base"), (2, 5, 16)))
        x = x.to(torch.float32 if dtype.itemsize == 2 else torch.bfloat16).requires_grad_()
        with pytest.raises(RuntimeError, match=REFUSED):
            model(x)
        by_hand = cast_by_hand(model)
        outcomes.append((model, x, run(model, x)))
        by_hand.remove()
    with patchkit.patched(only=ID, strict=True):
        for model, x, expected in outcomes:
            found = run(model, x)
            assert found[0].dtype == dtype
            assert found[1].dtype == x.dtype
            same(found, expected)


def test_a_batch_of_several_adapters() -> None:
    for options in ({}, {"base": "conv2d"}):
        model = make(adapters=2, **options).eval()
        x = torch.randn(SHAPES.get(options.get("base"), (3, 16)))[:2].requires_grad_()
        names = {"adapter_names": ["default", "adapter1"]}
        with pytest.raises(RuntimeError, match=REFUSED):
            model(x, **names)
        by_hand = cast_by_hand(model)
        expected = run(model, x, **names)
        by_hand.remove()
        with patchkit.patched(only=ID, strict=True):
            same(run(model, x, **names), expected)


def packed(bits: int, storage=torch.uint8, **options):
    import bitsandbytes

    if bits == 4:
        layer = bitsandbytes.nn.Linear4bit(
            64, 64, compute_dtype=torch.bfloat16, quant_type="nf4", quant_storage=storage
        )
    else:
        layer = bitsandbytes.nn.Linear8bitLt(64, 64, has_fp16_weights=False)
    return make(layer.to(torch.bfloat16).to("cpu"), dtype=None, **options)


def embedding():
    return make(nn.Embedding(16, 16))


UNCHANGED = {
    "dtypes_agree": (make, torch.randn(2, 16).bfloat16()),
    "dora": (lambda: make(use_dora=True), torch.randn(2, 16).bfloat16()),
    "all_float32": (lambda: make(dtype=torch.float32), torch.randn(2, 16)),
    "embedding": (embedding, torch.arange(8)),
    "4bit": (lambda: packed(4), torch.randn(2, 64).bfloat16()),
    "4bit_float32_input": (lambda: packed(4), torch.randn(2, 64)),
    "4bit_float16_input": (lambda: packed(4), torch.randn(2, 64).half()),
    "4bit_in_bfloat16_storage": (lambda: packed(4, torch.bfloat16), torch.randn(2, 64)),
    "4bit_dora": (lambda: packed(4, use_dora=True), torch.randn(2, 64)),
    "8bit": (lambda: packed(8), torch.randn(2, 64).bfloat16()),
    "8bit_float32_input": (lambda: packed(8), torch.randn(2, 64)),
}


@pytest.mark.parametrize("case", UNCHANGED)
@pytest.mark.filterwarnings("ignore")
def test_what_worked_is_the_same_bit_for_bit(case: str) -> None:
    build, x = UNCHANGED[case]
    model = build()
    for state in ("adapter", "disabled"):
        STATES[state](model)
        model.zero_grad()
        before = model(x)
        with patchkit.patched(only=ID, strict=True):
            after = model(x)
        assert before.dtype == after.dtype
        assert torch.equal(before, after)


@pytest.mark.parametrize("autocast", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("options", [{}, {"use_dora": True}, {"base": "conv2d"}], ids=str)
def test_nothing_changes_under_autocast(options, autocast, monkeypatch) -> None:
    model = make(**options).eval()
    x = torch.randn(SHAPES.get(options.get("base"), (3, 16)))
    with torch.autocast("cpu", autocast):
        before = model(x)
        monkeypatch.delattr("patchkit.precision.layer_input.in_dtype_of_base")
        with patchkit.patched(only=ID, strict=True):
            after = model(x)
    assert before.dtype == after.dtype
    assert torch.equal(before, after)


class CastsForItself(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x.float(), self.weight.float(), self.bias.float())


def test_a_base_layer_that_casts_for_itself_gets_the_input_as_it_came() -> None:
    model = make(CastsForItself(16, 16))
    x = torch.randn(2, 16)
    before = model(x)
    with patchkit.patched(only=ID, strict=True):
        assert torch.equal(model(x), before)

    model = make()
    base = model.base_model.model.layer.base_layer
    kept = {}

    def upcast(layer, args) -> None:
        kept["weight"], layer.weight.data = layer.weight.data, layer.weight.data.float()

    def downcast(layer, args, output) -> None:
        layer.weight.data = kept["weight"]

    base.register_forward_pre_hook(upcast)
    base.register_forward_hook(downcast)
    from peft.helpers import disable_input_dtype_casting

    with disable_input_dtype_casting(model):
        before = model(x)
        with patchkit.patched(only=ID, strict=True):
            assert torch.equal(model(x), before)


def test_compiled_in_one_graph_where_it_was() -> None:
    for model, x in ((make(), torch.randn(2, 16).bfloat16()), (embedding(), torch.arange(8))):
        model.eval()
        with patchkit.patched(only=ID, strict=True):
            compiled = torch.compile(model, backend="eager", fullgraph=True)
            torch.testing.assert_close(compiled(x), model(x))


def test_compiled() -> None:
    model = make().eval()
    x = torch.randn(2, 16)
    with patchkit.patched(only=ID, strict=True):
        compiled = torch.compile(model, backend="eager")
        torch.testing.assert_close(compiled(x), model(x))


def test_copies_pickles_and_the_way_back() -> None:
    from peft.tuners.lora.layer import Linear

    model = make()
    code, forward = Linear.forward.__code__, model.forward
    with patchkit.patched(only=ID, strict=True):
        for copied in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert copied(torch.randn(2, 16)).dtype == torch.bfloat16
        assert forward(torch.randn(2, 16)).dtype == torch.bfloat16
    assert Linear.forward.__code__ is code
    with pytest.raises(RuntimeError, match=REFUSED):
        model(torch.randn(2, 16))


def test_checkpointed() -> None:
    from torch.utils.checkpoint import checkpoint

    model = make()
    x = torch.randn(2, 16, requires_grad=True)
    with patchkit.patched(only=ID, strict=True):
        expected = run(model, x)
        model.zero_grad()
        x.grad = None
        checkpoint(model, x, use_reentrant=False).float().square().sum().backward()
    assert torch.equal(x.grad, expected[1])

"""Heads of another dtype than the model before them."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import patchkit
from patchkit.lab import shapes, tiny
from patchkit.precision.layer_input import in_dtype_of

from ..due import only_if_due

ID = "transformers-lm-head-dtype"

pytestmark = only_if_due(ID)

REFUSED = "have the same dtype"
DTYPES = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)


def build(family: str, dtype=torch.bfloat16, **options):
    try:
        return shapes.build(family, **options).to(dtype)
    except LookupError as absent:
        pytest.skip(str(absent))


def head_of(model) -> nn.Module:
    """The head, with a weight of its own where the family ties it to the embedding."""
    model.lm_head.weight = nn.Parameter(model.lm_head.weight.data.clone())
    return model.lm_head


@pytest.mark.parametrize("family", shapes.FAMILIES)
def test_a_float32_head(family: str) -> None:
    model = build(family)
    head_of(model).float()
    with pytest.raises(RuntimeError, match=REFUSED):
        shapes.forward(model)
    by_hand = model.lm_head.register_forward_pre_hook(lambda head, args: (args[0].float(),))
    expected = shapes.forward(model)
    by_hand.remove()
    with patchkit.patched(only=ID, strict=True):
        logits = shapes.forward(model)
        logits.square().mean().backward()
        shapes.generate(model)
    assert logits.dtype == torch.float32
    assert torch.equal(logits, expected)
    assert model.lm_head.weight.grad.dtype == torch.float32


@DTYPES
def test_a_half_precision_head(dtype) -> None:
    model = build("llama", torch.float32)
    head_of(model).to(dtype)
    with pytest.raises(RuntimeError, match=REFUSED):
        shapes.forward(model)
    with patchkit.patched(only=ID, strict=True):
        assert shapes.forward(model).dtype == dtype
        shapes.generate(model)


@pytest.mark.filterwarnings("ignore")
def test_after_preparing_a_quantized_model(tmp_path) -> None:
    import peft

    folder = tiny.build_causal_lm(tmp_path / "model", dtype="bfloat16")
    model = tiny.load(folder, quantization="4bit", dtype="bfloat16")
    model = peft.prepare_model_for_kbit_training(model).eval()
    model.lm_head.bfloat16()
    with pytest.raises(RuntimeError, match=REFUSED):
        shapes.forward(model)
    with patchkit.patched(only=ID, strict=True):
        assert shapes.forward(model).dtype == torch.bfloat16
        shapes.generate(model)


@pytest.mark.parametrize(
    ("head", "name"), [("SequenceClassification", "score"), ("QuestionAnswering", "qa_outputs")]
)
def test_other_heads(head: str, name: str) -> None:
    model = build("llama", head=head)
    getattr(model, name).float()
    with pytest.raises(RuntimeError, match=REFUSED):
        model(shapes.words())
    with patchkit.patched(only=ID, strict=True):
        assert next(iter(model(shapes.words()).values())).dtype == torch.float32


def test_a_head_that_peft_trains() -> None:
    """`modules_to_save` takes a classifier unasked, and trains a float32 copy of it."""
    import peft

    config = peft.LoraConfig(task_type="SEQ_CLS", r=4, target_modules=["q_proj"])
    model = peft.get_peft_model(build("llama", head="SequenceClassification"), config)
    copy = model.base_model.model.score.modules_to_save["default"].float()
    with pytest.raises(RuntimeError, match=REFUSED):
        model(shapes.words())
    with patchkit.patched(only=ID, strict=True):
        logits = model(shapes.words()).logits
        logits.sum().backward()
        with model.disable_adapter():
            assert model(shapes.words()).logits.dtype == torch.bfloat16
    assert logits.dtype == torch.float32
    assert copy.weight.grad is not None


class CastsForItself(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x.float(), self.weight.float())


def own_forward(model) -> None:
    model.lm_head = CastsForItself(32, 64, bias=False).bfloat16()
    model.model.norm.register_forward_hook(lambda norm, args, output: output.float())


def hooked(model) -> None:
    model.lm_head.float()
    model.lm_head.register_forward_pre_hook(lambda head, args: (args[0].float(),))


UNCHANGED = {
    "dtypes_agree": lambda model: None,
    "all_float32": lambda model: model.float(),
    "casts_for_itself": own_forward,
    "a_hook_of_the_user": hooked,
    "no_weight": lambda model: setattr(model, "lm_head", nn.Sequential(model.lm_head)),
}


@pytest.mark.parametrize("case", UNCHANGED)
def test_what_worked_is_the_same_bit_for_bit(case: str) -> None:
    model = build("llama")
    UNCHANGED[case](model)
    before = shapes.forward(model)
    with patchkit.patched(only=ID, strict=True):
        after = shapes.forward(model)
    assert before.dtype == after.dtype
    assert torch.equal(before, after)


@pytest.mark.parametrize("head", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_nothing_changes_under_autocast(head, monkeypatch) -> None:
    model = build("llama")
    head_of(model).to(head)
    with torch.autocast("cpu", torch.bfloat16):
        before = shapes.forward(model)
        monkeypatch.delattr("patchkit.precision.layer_input.in_dtype_of")
        with patchkit.patched(only=ID, strict=True):
            after = shapes.forward(model)
    assert before.dtype == after.dtype
    assert torch.equal(before, after)


def test_compiled_in_one_graph_where_it_was() -> None:
    model = build("llama")
    with patchkit.patched(only=ID, strict=True):
        compiled = torch.compile(model, backend="eager", fullgraph=True)
        compiled(shapes.words(), use_cache=False)
        model.lm_head.float()
        with torch.autocast("cpu", torch.bfloat16):
            compiled(shapes.words(), use_cache=False)
        torch._dynamo.reset()
        compiled = torch.compile(model, backend="eager")
        assert compiled(shapes.words(), use_cache=False).logits.dtype == torch.float32
    torch._dynamo.reset()


def test_the_input_itself_where_there_is_nothing_to_cast() -> None:
    import bitsandbytes

    x = torch.randn(2, 64)
    packed = bitsandbytes.nn.Linear4bit(64, 64, quant_type="nf4", quant_storage=torch.bfloat16).to(
        "cpu"
    )
    small = nn.Linear(64, 64)
    small.weight.data = small.weight.data.to(torch.float8_e4m3fn)
    named = nn.Linear(64, 64).bfloat16()
    named.weight.quant_state = object()
    replaced = nn.Linear(64, 64).bfloat16()
    replaced.forward = lambda x: x
    for layer in (packed, named, small, replaced, nn.Identity(), CastsForItself(64, 64).bfloat16()):
        assert in_dtype_of(layer, x) is x
    numbers = torch.arange(4)
    assert in_dtype_of(nn.Linear(64, 64), numbers) is numbers
    assert in_dtype_of(nn.Linear(64, 64).half(), x).dtype == torch.float16


def test_the_way_back() -> None:
    from transformers import LlamaForCausalLM

    forward = LlamaForCausalLM.forward
    model = build("llama")
    model.lm_head.float()
    with patchkit.patched(only=ID, strict=True):
        shapes.forward(model)
    assert LlamaForCausalLM.forward is forward
    with pytest.raises(RuntimeError, match=REFUSED):
        shapes.forward(model)

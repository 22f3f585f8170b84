"""Norms with float32 weights inside half-precision models of many families."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch

import patchkit
from patchkit.lab import shapes, tiny

from ..due import only_if_due

ID = "transformers-norm-output-dtype"
HEAD = "transformers-lm-head-dtype"

pytestmark = only_if_due(ID)

LEAK = ("llama", "mistral", "qwen2", "qwen3", "phi3", "t5")
RETURN_WHAT_THEY_WERE_GIVEN = ("gemma2", "gemma3", "gpt_oss", "opt")
REFUSED = "have the same dtype"
DTYPES = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)


def build(family: str, dtype=None, **options):
    try:
        model = shapes.build(family, **options)
    except LookupError as absent:
        pytest.skip(str(absent))
    return model if dtype is None else model.to(dtype)


def test_every_family_is_in_one_of_the_lists() -> None:
    assert {*LEAK, *RETURN_WHAT_THEY_WERE_GIVEN} == set(shapes.FAMILIES)


@DTYPES
@pytest.mark.parametrize("family", LEAK)
def test_forward_backward_and_generation(family: str, dtype) -> None:
    model = build(family, dtype)
    expected = shapes.forward(model).detach()
    names = shapes.norms_in_float32(model)
    with pytest.raises(RuntimeError, match=REFUSED):
        shapes.forward(model)
    with patchkit.patched(only=ID, strict=True):
        logits = shapes.forward(model)
        logits.float().square().mean().backward()
        shapes.generate(model)
    assert logits.dtype == dtype
    torch.testing.assert_close(logits, expected, rtol=0.1, atol=0.05)
    for name in names:
        weight = model.get_submodule(name).weight
        assert weight.dtype == weight.grad.dtype == torch.float32


@DTYPES
@pytest.mark.parametrize("family", RETURN_WHAT_THEY_WERE_GIVEN)
def test_families_that_do_so_already(family: str, dtype) -> None:
    model = build(family, dtype)
    shapes.norms_in_float32(model)
    before = shapes.forward(model), shapes.generate(model)
    with patchkit.patched(only=ID, strict=True) as report:
        after = shapes.forward(model), shapes.generate(model)
        targets = " ".join(target.target for target in report[ID].targets)
    assert all(map(torch.equal, before, after))
    for name in ("Gemma", "GptOss", "OPT"):
        assert f":{name}" not in targets


def test_the_norm_computes_in_float32() -> None:
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    norm = LlamaRMSNorm(16)
    norm.weight.data = torch.randn(16)
    x = torch.randn(2, 16).bfloat16()
    leaked = norm(x)
    assert leaked.dtype == torch.float32
    with patchkit.patched(only=ID, strict=True):
        assert torch.equal(norm(x), leaked.bfloat16())


UNCHANGED = {
    "all_float32": lambda model: model,
    "all_bfloat16": lambda model: model.bfloat16(),
    "half_norms_on_float32": lambda model: [
        model.get_submodule(name).bfloat16() for name in shapes.norms_in_float32(model)
    ],
}


@pytest.mark.parametrize("family", ["llama", "qwen3", "t5", "gemma3"])
@pytest.mark.parametrize("case", UNCHANGED)
def test_what_worked_is_the_same_bit_for_bit(family: str, case: str) -> None:
    model = build(family)
    UNCHANGED[case](model)
    before = outcome(model)
    with patchkit.patched(only=ID, strict=True):
        after = outcome(model)
    assert type(before) is type(after)
    assert torch.equal(before, after) if torch.is_tensor(before) else before == after
    assert getattr(before, "dtype", None) == getattr(after, "dtype", None)


def outcome(model):
    """The logits, or why there are none."""
    try:
        return shapes.forward(model)
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("family", ["llama", "qwen3", "t5"])
@pytest.mark.parametrize("weights", [torch.bfloat16, torch.float32], ids=str)
def test_nothing_changes_under_autocast(family: str, weights) -> None:
    """There the float32 that norms give makes the residual stream float32, to some on purpose."""
    model = build(family, weights)
    shapes.norms_in_float32(model)
    with torch.autocast("cpu", torch.bfloat16):
        before = shapes.forward(model)
        with patchkit.patched(only=ID, strict=True):
            after = shapes.forward(model)
    assert before.dtype == after.dtype
    assert torch.equal(before, after)


def test_float32_in_float32_out() -> None:
    from transformers.models.llama.modeling_llama import LlamaRMSNorm
    from transformers.models.t5.modeling_t5 import T5LayerNorm

    for kind in (LlamaRMSNorm, T5LayerNorm):
        for weight in (torch.float32, torch.bfloat16):
            norm, x = kind(16).to(weight), torch.randn(2, 16)
            before = norm(x)
            with patchkit.patched(only=ID, strict=True):
                after = norm(x)
            assert before.dtype == after.dtype
            assert torch.equal(before, after)


def test_t5_in_float16_keeps_wo_in_float32(tmp_path) -> None:
    """So what comes to the norms is float32 as well: there the next layer's dtype counts."""
    import transformers

    build("t5").save_pretrained(tmp_path)
    model = transformers.T5ForConditionalGeneration.from_pretrained(
        tmp_path, **{tiny.dtype_keyword(): torch.float16}
    )
    assert model.encoder.block[0].layer[1].DenseReluDense.wo.weight.dtype == torch.float32
    before = shapes.forward(model)
    with patchkit.patched(only=[ID, HEAD], strict=True):
        assert torch.equal(shapes.forward(model), before)
    shapes.norms_in_float32(model)
    with pytest.raises(RuntimeError, match=REFUSED):
        shapes.forward(model)
    with patchkit.patched(only=[ID, HEAD], strict=True):
        assert shapes.forward(model).dtype == torch.float16
        shapes.generate(model)


def test_a_quantized_model_with_float32_norms(tmp_path) -> None:
    """The layers take the float32, and the half-precision head refuses what comes out of them."""
    folder = tiny.build_causal_lm(tmp_path / "model", dtype="bfloat16")
    model = tiny.load(folder, quantization="4bit", dtype="bfloat16")
    shapes.norms_in_float32(model)
    with pytest.raises(RuntimeError, match=REFUSED):
        shapes.forward(model)
    with patchkit.patched(only=ID, strict=True):
        assert shapes.forward(model).dtype == torch.bfloat16
        shapes.generate(model)


@pytest.mark.filterwarnings("ignore")
def test_a_prepared_model_is_float32_throughout(tmp_path) -> None:
    """What `prepare_model_for_kbit_training` leaves works as it is, and stays as it was."""
    import peft

    folder = tiny.build_causal_lm(tmp_path / "model", dtype="bfloat16")
    model = tiny.load(folder, quantization="4bit", dtype="bfloat16")
    model = peft.prepare_model_for_kbit_training(model).eval()
    before = shapes.forward(model)
    assert before.dtype == torch.float32
    with patchkit.patched(only=[ID, HEAD], strict=True):
        assert torch.equal(shapes.forward(model), before)


def test_compiled_in_one_graph() -> None:
    model = build("llama", torch.bfloat16)
    half = shapes.forward(model)
    with patchkit.patched(only=ID, strict=True):
        for prepare in (lambda: None, lambda: shapes.norms_in_float32(model)):
            prepare()
            torch._dynamo.reset()
            compiled = torch.compile(model, backend="eager", fullgraph=True)
            logits = compiled(shapes.words(), use_cache=False).logits
            torch.testing.assert_close(logits, half, rtol=0.1, atol=0.05)
    torch._dynamo.reset()


def test_models_loaded_before_copies_checkpointing_and_the_way_back() -> None:
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    model = build("llama", torch.bfloat16)
    shapes.norms_in_float32(model)
    code = LlamaRMSNorm.forward.__code__
    with patchkit.patched(only=ID, strict=True):
        for copied in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            shapes.forward(copied)
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.train()
        shapes.forward(model).float().mean().backward()
        assert model.model.norm.weight.grad is not None
    assert LlamaRMSNorm.forward.__code__ is code
    with pytest.raises(RuntimeError, match=REFUSED):
        shapes.forward(model.eval())

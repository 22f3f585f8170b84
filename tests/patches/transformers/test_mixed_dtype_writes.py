"""What a model writes into a tensor gets its dtype, and is otherwise what it was."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers

import patchkit
from patchkit.catalogue import entries as catalogue
from patchkit.lab import cuda_fp16, shapes

from ..due import only_if_due
from ..snippets import made, numbers

ID = "transformers-mixed-dtype-writes"
PATCH = catalogue.load().entries[ID].patch
pytestmark = [only_if_due(ID), pytest.mark.filterwarnings("ignore")]
HALF = torch.bfloat16
ROUNDING = 0.02


CHOSEN = torch.tensor([True, False, True])
PLACES = torch.tensor([0, 2])
WRITES = {
    "masked_scatter": "return x.masked_scatter(chosen[:, None], y)",
    "masked_scatter_": "x = x + 0; x.masked_scatter_(chosen[:, None], y); return x",
    "index_add": "return x.index_add(0, places, y)",
    "index_add_": "x = x + 0; x.index_add_(0, places, y); return x",
    "scatter": "return x.scatter(0, places[:, None].expand(2, 4), y)",
    "scatter_": "x = x + 0; return x.scatter_(0, index=places[:, None].expand(2, 4), src=y)",
    "scatter_reduce": (
        "return x.scatter_reduce(0, places[:, None].expand(2, 4), src=y * 1.0, reduce='amax')"
    ),
    "a mask": "new = torch.zeros_like(x); new[chosen] = y; return new",
    "places": "new = x.clone(); new[places] = y[:] + 0; return new",
    "new zeros": "new = x.new_zeros(3, 4); new[places, :2] = y[:, :2]; return new",
    "zeros": "new = torch.zeros(3, 4, dtype=x.dtype); new[places] += y; return new",
}


@pytest.mark.parametrize("into", [torch.float32, torch.float16, HALF], ids=str)
@pytest.mark.parametrize("written", [torch.float32, torch.float16, HALF], ids=str)
@pytest.mark.parametrize("statements", WRITES.values(), ids=WRITES)
def test_each_write_takes_any_dtype_and_changes_nothing_else(statements, written, into) -> None:
    upstream, fixed = made(PATCH, "(x, y, chosen, places)", statements)
    x, y = numbers(3, 4).to(into), numbers(2, 4).to(written).requires_grad_()
    found = fixed(x, y, CHOSEN, PLACES)
    assert found.dtype == into
    if "+=" not in statements or into == written:
        if into == written:
            assert torch.equal(found, upstream(x, y, CHOSEN, PLACES))
        else:
            with pytest.raises(RuntimeError, match=PATCH.symptom):
                upstream(x, y, CHOSEN, PLACES)
    expected = upstream(x, y.detach().to(into), CHOSEN, PLACES)
    assert torch.equal(found, expected)
    found.float().sum().backward()
    assert y.grad is not None
    assert y.grad.dtype == written


@pytest.mark.parametrize("statements", WRITES.values(), ids=WRITES)
def test_each_write_compiles_in_one_graph(statements) -> None:
    _, fixed = made(PATCH, "(x, y, chosen, places)", statements)
    y = numbers(2, 4).to(HALF)
    compiled = torch.compile(fixed, backend="eager", fullgraph=True)
    try:
        assert torch.equal(
            compiled(numbers(3, 4), y, CHOSEN, PLACES), fixed(numbers(3, 4), y, CHOSEN, PLACES)
        )
    finally:
        torch._dynamo.reset()


def dbrx() -> Any:
    config = transformers.DbrxConfig(
        vocab_size=64,
        d_model=16,
        n_layers=1,
        n_heads=2,
        attn_config={"kv_n_heads": 1, "rope_theta": 10000.0, "clip_qkv": 8.0},
        ffn_config={"ffn_hidden_size": 16, "moe_num_experts": 2, "moe_top_k": 1},
    )
    return transformers.DbrxForCausalLM(config)


def xmod() -> Any:
    config = transformers.XmodConfig(
        vocab_size=64,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        languages=["en_XX"],
        default_language="en_XX",
    )
    return transformers.XmodForMaskedLM(config)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("build", [dbrx, xmod])
def test_models_learn_under_autocast(build, dtype) -> None:
    torch.manual_seed(0)
    model = build().to(dtype)
    labels = shapes.words()
    plain = build()
    plain.load_state_dict(model.state_dict())
    with torch.no_grad():
        expected = plain.float()(input_ids=labels, labels=labels).loss
    with (
        patchkit.patched(only=ID, strict=True),
        cuda_fp16.cuda_fp16_on_cpu(),
        torch.autocast("cpu", torch.float16),
    ):
        loss = model(input_ids=labels, labels=labels).loss
        loss.backward()
    assert abs(loss.item() - expected.item()) < ROUNDING * expected.item()
    written = [
        parameter
        for name, parameter in model.named_parameters()
        if "expert" in name.lower() or "adapter_modules" in name
    ]
    assert written
    assert all(parameter.grad.abs().sum() > 0 for parameter in written if parameter.ndim > 1)

"""Masks hold what they are filled with, and are filled with the same where that was so before."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers

import patchkit
from patchkit.catalogue import entries as catalogue
from patchkit.lab import cuda_fp16, shapes

from ..due import only_if_due
from ..snippets import made

ID = "transformers-mask-fill-overflow"
PATCH = catalogue.load().entries[ID].patch
pytestmark = [only_if_due(ID), pytest.mark.filterwarnings("ignore")]
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
ROUNDING = 0.02
FILLS = {
    "masked_fill": "return mask.masked_fill(mask > 0, torch.finfo(other.dtype).min)",
    "by a variable": "least = torch.finfo(other.dtype).min; return mask.masked_fill(mask > 0, least)",
    "pad": "return torch.nn.functional.pad(mask, (1, 1), value=torch.finfo(other.dtype).min)",
}


@pytest.mark.parametrize("other", FLOATS, ids=str)
@pytest.mark.parametrize("mask", FLOATS, ids=str)
@pytest.mark.parametrize("statements", FILLS.values(), ids=FILLS)
def test_a_number_that_fits_stays_and_another_becomes_the_smallest(statements, mask, other) -> None:
    upstream, fixed = made(PATCH, "(mask, other)", statements)
    given = torch.tensor([0.0, 1.0]).to(mask), torch.ones(1, dtype=other)
    found = fixed(*given)
    assert found.dtype == mask
    assert found.isfinite().all()
    if torch.finfo(other).min >= torch.finfo(mask).min:
        assert torch.equal(found, upstream(*given))
        assert found.min() == torch.tensor(torch.finfo(other).min).to(mask)
    else:
        with pytest.raises(RuntimeError, match=PATCH.symptom):
            upstream(*given)
        assert found.min() == torch.finfo(mask).min


@pytest.mark.parametrize("statements", FILLS.values(), ids=FILLS)
def test_each_fill_compiles_in_one_graph(statements) -> None:
    _, fixed = made(PATCH, "(mask, other)", statements)
    given = torch.tensor([0.0, 1.0]).half(), torch.ones(1)
    compiled = torch.compile(fixed, backend="eager", fullgraph=True)
    try:
        assert torch.equal(compiled(*given), fixed(*given))
    finally:
        torch._dynamo.reset()


def test_a_mask_of_truth_values_takes_what_it_took() -> None:
    upstream, fixed = made(PATCH, "(mask, other)", FILLS["masked_fill"])
    given = torch.tensor([False, True]), torch.ones(1)
    assert torch.equal(fixed(*given), upstream(*given))


def deberta() -> Any:
    config = transformers.DebertaConfig(
        vocab_size=64,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return transformers.DebertaForMaskedLM(config)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_deberta_learns_under_autocast(dtype) -> None:
    torch.manual_seed(0)
    model = deberta()
    ids = shapes.words()
    inputs = {"input_ids": ids, "attention_mask": (ids > 4).long(), "labels": ids}
    with torch.no_grad():
        expected = model(**inputs).loss
    with (
        patchkit.patched(only=ID, strict=True),
        cuda_fp16.cuda_fp16_on_cpu(),
        torch.autocast("cpu", dtype),
    ):
        loss = model(**inputs).loss
        loss.backward()
    assert abs(loss.item() - expected.item()) < ROUNDING * expected.item()
    assert model.deberta.embeddings.word_embeddings.weight.grad.isfinite().all()


@pytest.mark.parametrize("kind", ["local", "transient-global"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_longt5_has_gradients_where_a_block_is_filled_up(kind, dtype) -> None:
    """Nine positions are a block; in float32 they have those that they had without the patch."""
    config = transformers.LongT5Config(
        vocab_size=64,
        d_model=16,
        num_layers=1,
        num_decoder_layers=1,
        num_heads=2,
        d_ff=16,
        d_kv=8,
        local_radius=8,
        dropout_rate=0.0,
        encoder_attention_type=kind,
        decoder_start_token_id=0,
        pad_token_id=0,
    )

    def gradients(dtype: torch.dtype) -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = transformers.LongT5ForConditionalGeneration(config).to(dtype)
        ids = torch.arange(3, 15).reshape(1, 12)
        model(input_ids=ids, labels=ids).loss.backward()
        return [weight.grad for weight in model.parameters() if weight.grad is not None]

    expected = gradients(torch.float32)
    if dtype == torch.float16:
        assert not all(found.isfinite().all() for found in gradients(dtype))
    with patchkit.patched(only=ID, strict=True):
        found = gradients(dtype)
    rounding = 0.0 if dtype == torch.float32 else 0.05
    joined = [torch.cat([part.float().flatten() for part in parts]) for parts in (found, expected)]
    assert (joined[0] - joined[1]).norm() <= rounding * joined[1].norm()

"""LayoutLMv3, WavLM and RWKV, which read the weights of layers themselves."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

import patchkit
from patchkit.catalogue import entries as catalogue
from patchkit.catalogue.resolution import resolve
from patchkit.lab import quantized, shapes, tiny

tiny.go_offline()

import peft  # noqa: E402
import transformers  # noqa: E402
from patchkit.patches.transformers.packed_bytes import TINY_LAYOUTLM  # noqa: E402

from ..snippets import distance  # noqa: E402

ID = "transformers-packed-bytes"
#: What 4-bit layers on some CPUs need to infer.
WITH_PACKING = [ID, "bitsandbytes-cpu-inference-packing"]
RESOLUTION = resolve(catalogue.load().entries[ID].patch)
pytestmark = [
    pytest.mark.skipif(RESOLUTION.verdict is not None, reason=f"not due: {RESOLUTION.reason}"),
    pytest.mark.filterwarnings("ignore"),
]
SIZES = dict.fromkeys(("vocab_size", "hidden_size", "intermediate_size"), 64)
ROUNDING = 0.05


def load(plain: Any, bits: int, **options: Any) -> Any:
    compute_dtype = "bfloat16" if bits == 4 else None
    config = quantized.configuration(bits, compute_dtype=compute_dtype, **options)
    return quantized.reload(plain, dtype="bfloat16", quantization_config=config).eval()


@pytest.fixture(scope="module")
def layoutlm() -> Any:
    torch.manual_seed(0)
    return transformers.LayoutLMv3Model(transformers.LayoutLMv3Config(**TINY_LAYOUTLM)).eval()


@pytest.mark.parametrize("adapted", [False, True])
@pytest.mark.parametrize("bits", [4, 8])
def test_relative_positions_are_those_of_the_values(
    layoutlm: Any, bits: int, adapted: bool
) -> None:
    model = load(layoutlm, bits)
    plain = copy.deepcopy(model).dequantize().encoder
    if adapted:
        model = peft.get_peft_model(model, peft.LoraConfig(target_modules="all-linear"))
        model = model.get_base_model()
    positions = torch.arange(8)[None]
    expected = plain._cal_1d_pos_emb(positions)
    if bits == 4:
        with pytest.raises(IndexError):
            model.encoder._cal_1d_pos_emb(positions)
    else:
        assert distance(model.encoder._cal_1d_pos_emb(positions), expected) > 100
    with patchkit.patched(only=ID, strict=True):
        found = model.encoder._cal_1d_pos_emb(positions)
        boxes = torch.arange(32).reshape(1, 8, 4)
        assert distance(model.encoder._cal_2d_pos_emb(boxes), plain._cal_2d_pos_emb(boxes)) < 0.01
    assert distance(found, expected) < 0.01


def wavlm() -> Any:
    config = transformers.WavLMConfig(
        **SIZES,
        num_hidden_layers=1,
        num_attention_heads=2,
        conv_dim=(8,),
        conv_stride=(2,),
        conv_kernel=(3,),
        num_feat_extract_layers=1,
        num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2,
        layerdrop=0.0,
    )
    torch.manual_seed(0)
    return transformers.WavLMModel(config).eval()


@pytest.mark.parametrize("bits", [4, 8])
def test_wavlm_attends_with_the_values(bits: int) -> None:
    model = load(wavlm(), bits, llm_int8_skip_modules=["gru_rel_pos_linear"])
    attention = model.encoder.layers[0].attention
    plain = copy.deepcopy(model).dequantize().encoder.layers[0].attention.float()
    inputs = torch.randn(1, 6, 64)

    def attend(module: Any, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = module(x, None)[0]
        return result

    with torch.no_grad():
        expected = attend(plain, inputs)
        if bits == 4:
            with pytest.raises(AssertionError, match="query weights shape"):
                attend(attention, inputs.bfloat16())
        with patchkit.patched(only=WITH_PACKING, strict=True):
            found = attend(attention, inputs.bfloat16())
    assert found.dtype == torch.bfloat16
    assert distance(found, expected) < ROUNDING


def rwkv() -> Any:
    config = transformers.RwkvConfig(
        **SIZES, attention_hidden_size=64, num_hidden_layers=4, rescale_every=2, context_length=32
    )
    torch.manual_seed(0)
    return transformers.RwkvForCausalLM(config)


@pytest.mark.parametrize("adapted", [False, True])
@pytest.mark.parametrize("bits", [4, 8])
def test_packed_rwkv_computes_in_inference_what_it_does_in_training(
    bits: int, adapted: bool
) -> None:
    model = load(rwkv(), bits)
    expected = shapes.forward(copy.deepcopy(model).dequantize().float()).detach()
    if adapted:
        model = peft.get_peft_model(model, peft.LoraConfig(target_modules="all-linear"))
    with patchkit.patched(only=WITH_PACKING, strict=True):
        model.train()(input_ids=shapes.words(), labels=shapes.words()).loss.backward()
        with torch.no_grad():
            for _ in range(2):
                found = model.eval()(input_ids=shapes.words()).logits
                assert distance(found, expected) < ROUNDING
                model.train()


def test_plain_models_compute_as_before(layoutlm: Any) -> None:
    model = rwkv().eval()
    with torch.no_grad():
        hidden = layoutlm(input_ids=shapes.words()).last_hidden_state
        logits = shapes.forward(model)
        scaled = model.rwkv.blocks[3].attention.output.weight.clone()
        with patchkit.patched(only=ID, strict=True):
            again = layoutlm(input_ids=shapes.words()).last_hidden_state
            assert torch.equal(again, hidden)
            other = rwkv().eval()
            assert torch.equal(shapes.forward(other), logits)
            assert torch.equal(other.rwkv.blocks[3].attention.output.weight, scaled)

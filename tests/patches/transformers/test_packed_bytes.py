"""LayoutLMv3, WavLM, RWKV and others that read the weights of layers themselves."""

from __future__ import annotations

import contextlib
import copy
import inspect
from typing import Any

import bitsandbytes
import peft
import pytest
import torch
import transformers
from patchkit.patches.transformers.packed_bytes import TINY_LAYOUTLM

import patchkit
from patchkit.lab import quantized, shapes

from ..due import only_if_due
from ..snippets import distance

ID = "transformers-packed-bytes"
#: What 4-bit layers on some CPUs need to infer.
WITH_PACKING = [ID, "bitsandbytes-cpu-inference-packing"]
pytestmark = [only_if_due(ID), pytest.mark.filterwarnings("ignore")]
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


def packed(layer: torch.nn.Linear, bits: int) -> torch.nn.Module:
    """Return a layer of bitsandbytes with a layer's values."""
    size = (layer.in_features, layer.out_features, layer.bias is not None)
    result: torch.nn.Module = (
        bitsandbytes.nn.Linear4bit(*size, compute_dtype=torch.bfloat16, quant_type="nf4")
        if bits == 4
        else bitsandbytes.nn.Linear8bitLt(*size, has_fp16_weights=False)
    )
    result.load_state_dict(layer.state_dict())
    if layer.bias is not None:
        result.bias = layer.bias
    return result.to("cpu")


def mask_head() -> tuple[Any, tuple[torch.Tensor, ...]]:
    from transformers.models.detr import modeling_detr as detr

    given = inspect.signature(detr.DetrMHAttentionMap).parameters
    sizes = dict.fromkeys(("hidden_size", "query_dim", "hidden_dim"), 64)
    options = {**sizes, "num_attention_heads": 4, "num_heads": 4, "dropout": 0.0, "std": 0.02}
    head = detr.DetrMHAttentionMap(**{name: options[name] for name in given if name in options})
    return head, (torch.randn(1, 3, 64), torch.randn(1, 64, 2, 2))


def x_vectors() -> tuple[Any, tuple[torch.Tensor, ...]]:
    from transformers.models.wav2vec2.modeling_wav2vec2 import TDNNLayer

    config = transformers.Wav2Vec2Config(
        tdnn_dim=(64, 64), tdnn_kernel=(2, 2), tdnn_dilation=(1, 1)
    )
    return TDNNLayer(config, 1), (torch.randn(1, 6, 64),)


def mobilebert_head() -> tuple[Any, tuple[torch.Tensor, ...]]:
    from transformers.models.mobilebert.modeling_mobilebert import MobileBertLMPredictionHead

    config = transformers.MobileBertConfig(vocab_size=64, hidden_size=128, embedding_size=64)
    return MobileBertLMPredictionHead(config), (torch.randn(1, 6, 128),)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("made", [mask_head, x_vectors, mobilebert_head])
def test_weights_that_are_given_to_operators_are_values(made: Any, bits: int) -> None:
    torch.manual_seed(0)
    module, inputs = made()
    module.eval()
    with torch.no_grad():
        expected = module(*inputs)
    module.bfloat16()
    for name, layer in list(module.named_modules()):
        if isinstance(layer, torch.nn.Linear) and name.rpartition(".")[2] != "decoder":
            setattr(module, name, packed(layer, bits))

    def run() -> torch.Tensor:
        with torch.no_grad():
            result: torch.Tensor = module(*(tensor.bfloat16() for tensor in inputs))
            return result.float()

    if bits == 4:
        with pytest.raises(RuntimeError, match=r"size|shape"):
            run()
    else:
        with contextlib.suppress(RuntimeError):  # a convolution of whole numbers and bfloat16
            assert distance(run(), expected) > 1
    with patchkit.patched(only=WITH_PACKING, strict=True):
        assert distance(run(), expected) < 0.2


@pytest.mark.parametrize("bits", [0, 4, 8])
def test_layers_that_a_list_has_too_are_those_of_the_module(bits: int) -> None:
    """Packed ones, and with 0 bits one that doubles what the layer gives, as adapters change it."""
    from transformers.models.mask2former.modeling_mask2former import Mask2FormerPredictionBlock

    torch.manual_seed(0)
    block = Mask2FormerPredictionBlock(64, 64, torch.nn.ReLU())
    x = torch.randn(3, 64)
    with torch.no_grad():
        expected = block(x)
        if bits:
            setattr(block, "0", packed(getattr(block, "0"), bits))
            block.layers[0].to("meta")
            with pytest.raises((RuntimeError, NotImplementedError), match="meta"):
                block(x)
        else:
            layer = copy.deepcopy(getattr(block, "0"))
            for weight in layer.parameters():
                weight.mul_(2)
            setattr(block, "0", layer)
            assert torch.equal(block(x), expected)
            expected = 2 * expected
        with patchkit.patched(only=WITH_PACKING, strict=True):
            assert distance(block(x), expected) < 0.2


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

"""Activations keep their values where a layer's weight is packed."""

from __future__ import annotations

import copy
import inspect
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bitsandbytes as bnb
import peft
import pytest
import torch
import transformers
from packaging.version import Version
from torch import nn

import patchkit
from patchkit.lab import quantized, shapes

from ..due import only_if_due
from ..snippets import numbers

ID = "transformers-packed-activations"
pytestmark = [only_if_due(ID), pytest.mark.filterwarnings("ignore")]

# A packed layer multiplies with other kernels than the plain one that it dequantizes to.
ROUNDING = 0.03
HALF = torch.bfloat16


def longt5() -> Any:
    shape = {"vocab_size": 64, "d_model": 64, "d_kv": 16, "d_ff": 64, "num_layers": 1}
    config = transformers.LongT5Config(
        **shape, num_heads=4, local_radius=4, decoder_start_token_id=0
    )
    return transformers.LongT5ForConditionalGeneration(config)


def siglip2() -> Any:
    config = transformers.Siglip2VisionConfig(
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_channels=4,
        num_patches=16,
        patch_size=4,
        vision_use_head=False,
    )
    return transformers.Siglip2VisionModel(config)


def colpali() -> Any:
    shape = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1}
    text = {"vocab_size": 80, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16}
    image = {"num_attention_heads": 4, "image_size": 16, "patch_size": 4}
    whole = transformers.PaliGemmaConfig(
        text_config={"model_type": "gemma", **shape, **text},
        vision_config={"model_type": "siglip_vision_model", **shape, **image},
        image_token_index=79,
        projection_dim=64,
        hidden_size=64,
    )
    config = transformers.ColPaliConfig(vlm_config=whole, embedding_dim=64)
    return transformers.ColPaliForRetrieval(config)


WORDS = {"input_ids": shapes.words(), "attention_mask": torch.ones_like(shapes.words())}
IMAGE = {
    "pixel_values": numbers(2, 16, 64),
    "pixel_attention_mask": torch.ones(2, 16, dtype=torch.long),
    "spatial_shapes": torch.tensor([[4, 4], [4, 4]]),
}
MODELS: dict[str, tuple[Any, dict[str, torch.Tensor], str]] = {
    "cast in place": (longt5, {**WORDS, "decoder_input_ids": shapes.words()}, "logits"),
    "cast by a variable, from float32": (siglip2, IMAGE, "last_hidden_state"),
    "cast by a variable, to a head": (colpali, WORDS, "embeddings"),
}
KINDS: dict[str, dict[str, Any]] = {
    "4-bit": {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
    "4-bit, stored as float16": {
        "load_in_4bit": True,
        "bnb_4bit_quant_type": "nf4",
        "bnb_4bit_quant_storage": torch.float16,
    },
    "8-bit": {"load_in_8bit": True},
}


installed = Version(version("bitsandbytes"))
if installed < Version("0.48"):
    # On a CPU it reads no other storage than uint8, and 8-bit layers compute nonsense.
    KINDS = {"4-bit": KINDS["4-bit"]}


def loaded(folder: Path, model: Any, kind: str | None) -> Any:
    options: dict[str, Any] = {}
    if kind is not None:
        config = {**KINDS[kind]}
        if kind != "8-bit":
            config["bnb_4bit_compute_dtype"] = HALF
        options["quantization_config"] = transformers.BitsAndBytesConfig(**config)
    return quantized.load(folder, loader=type(model), dtype=HALF, **options).eval()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODELS)
def test_a_quantized_model_computes_what_it_dequantizes_to(name, kind, tmp_path) -> None:
    build, inputs, output = MODELS[name]
    torch.manual_seed(0)
    plain = build()
    plain.save_pretrained(tmp_path)
    model = loaded(tmp_path, plain, kind)
    # An 8-bit model of old releases dequantizes to other weights than it multiplies with.
    expected = loaded(tmp_path, plain, None) if kind == "8-bit" else copy.deepcopy(model)
    if kind != "8-bit":
        # Transformers 4 dequantizes to the dtype of the storage.
        expected = expected.dequantize().to(HALF)
    with torch.no_grad(), patchkit.patched(only=ID, strict=True):
        found = getattr(model(**inputs), output)
        wanted = getattr(expected(**inputs), output)
    assert found.dtype == wanted.dtype == HALF
    assert (found - wanted).norm() < ROUNDING * wanted.norm()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "stored" not in kind])
def test_a_quantized_model_with_adapters_trains(kind, tmp_path) -> None:
    torch.manual_seed(0)
    plain = longt5()
    plain.save_pretrained(tmp_path)
    config = peft.LoraConfig(r=2, target_modules=["wi", "wo"], init_lora_weights=False)
    model = peft.get_peft_model(loaded(tmp_path, plain, kind), config).train()
    with patchkit.patched(strict=True):
        loss = model(input_ids=shapes.words(), labels=shapes.words()).loss
        loss.backward()
    assert torch.isfinite(loss)
    for parameter in model.parameters():
        assert not parameter.requires_grad or parameter.grad.abs().sum() > 0


def swinv2() -> Any:
    config = transformers.Swinv2Config(
        image_size=16, patch_size=2, embed_dim=64, depths=[1], num_heads=[4], window_size=4
    )
    return transformers.Swinv2Model(config)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "stored" not in kind])
def test_coordinates_of_swinv2_are_no_bytes(kind, tmp_path) -> None:
    """They are cast to the dtype of the first parameter of a perceptron while it is loaded."""
    plain = swinv2()
    plain.save_pretrained(tmp_path)

    def table(model: Any) -> torch.Tensor:
        (found,) = (buffer for name, buffer in model.named_buffers() if "coords_table" in name)
        return found

    expected = table(loaded(tmp_path, plain, None))
    assert expected.min() < 0
    with patchkit.patched(only=ID, strict=True):
        model = loaded(tmp_path, plain, kind)
    assert torch.equal(table(model), expected)


def dense() -> Any:
    from transformers.models.longt5.modeling_longt5 import LongT5DenseActDense

    torch.manual_seed(0)
    return LongT5DenseActDense(
        transformers.LongT5Config(d_model=64, d_ff=64, dropout_rate=0.0)
    ).eval()


@pytest.mark.parametrize("weight", [torch.float32, torch.float16, HALF], ids=str)
@pytest.mark.parametrize("given", [torch.float32, HALF], ids=str)
def test_plain_weights_are_cast_to_as_before(weight, given) -> None:
    module = dense().to(given)
    module.wo.to(weight)
    x = numbers(2, 64).to(given)
    expected = module(x)
    with patchkit.patched(only=ID, strict=True):
        found = module(x)
    assert found.dtype == expected.dtype == weight
    assert torch.equal(found, expected)


def packed(layer: Any, kind: str) -> Any:
    options = {"bias": layer.bias is not None}
    if kind == "8-bit":
        made = bnb.nn.Linear8bitLt(64, 64, has_fp16_weights=False, threshold=6.0, **options)
        made.weight = bnb.nn.Int8Params(layer.weight.data, requires_grad=False)
    else:
        made = bnb.nn.Linear4bit(64, 64, quant_type="nf4", compute_dtype=HALF, **options)
        made.weight = bnb.nn.Params4bit(
            layer.weight.data, requires_grad=False, quant_type="nf4", compress_statistics=False
        )
    made.bias = layer.bias
    return made.to("cpu")


@pytest.mark.parametrize("kind", ["4-bit", "8-bit"])
@pytest.mark.parametrize("given", [torch.float32, HALF], ids=str)
def test_an_8_bit_weight_without_a_bias_takes_what_comes(kind, given) -> None:
    """A 4-bit weight says what dtype it had."""
    module = dense().to(HALF)
    module.wi = nn.Identity()
    module.wo = packed(module.wo, kind)
    with torch.no_grad(), patchkit.patched(only=ID, strict=True):
        found = module(numbers(2, 64).to(given))
    # Upstream casts to no int8 here, and so does not cast at all.
    assert found.dtype == (HALF if kind == "4-bit" else given)


def test_a_packed_weight_compiles_in_one_graph() -> None:
    module = dense().to(HALF)
    plain = copy.deepcopy(module)
    module.wi, module.wo = packed(module.wi, "4-bit"), packed(module.wo, "4-bit")
    for layer in (module.wi, module.wo):
        layer.support_avx512bf16_for_cpu = False
    x = numbers(2, 64).to(HALF)
    with torch.no_grad(), patchkit.patched(only=ID, strict=True):
        for made in (plain, module):
            compiled = torch.compile(made, backend="eager", fullgraph=True)
            assert torch.equal(compiled(x), made(x))
    torch._dynamo.reset()


def test_beside_another_patch_of_the_same_forward(tmp_path) -> None:
    """`transformers-norm-output-dtype` casts the input of the layer before."""
    plain = longt5()
    plain.save_pretrained(tmp_path)
    model = loaded(tmp_path, plain, "4-bit")
    expected = copy.deepcopy(model).dequantize()
    ids = [ID, "transformers-norm-output-dtype", "transformers-lm-head-dtype"]
    with torch.no_grad(), patchkit.patched(only=ids, strict=True):
        text = inspect.getsource(type(dense()).forward)
        found, wanted = shapes.forward(model), shapes.forward(expected)
    assert "activation_dtype(self.wo" in text
    assert "in_dtype_of(self.wi" in text
    assert found.dtype == wanted.dtype == HALF
    assert (found - wanted).norm() < ROUNDING * wanted.norm()


def test_a_head_that_casts_for_itself_is_left_to_this_patch() -> None:
    """`transformers-lm-head-dtype` has nothing to do there, and its edit would be in the way."""
    from transformers.models.mamba.modeling_mamba import MambaForCausalLM

    code = MambaForCausalLM.forward.__code__
    with patchkit.patched(only="transformers-lm-head-dtype"):
        assert MambaForCausalLM.forward.__code__ is code
    with patchkit.patched(only=["transformers-lm-head-dtype", ID], strict=True):
        assert MambaForCausalLM.forward.__code__ is not code
    assert MambaForCausalLM.forward.__code__ is code

"""What enters a model has the dtype of its first layer."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from patchkit.patches.transformers.input_dtype import TINY_WHISPER

import patchkit
from patchkit.catalogue import entries as catalogue
from patchkit.rewrite.target import Target

from ..due import only_if_due
from ..snippets import numbers

ID = "transformers-input-dtype"
pytestmark = [only_if_due(ID), pytest.mark.filterwarnings("ignore")]
FLOATS = (torch.float32, torch.bfloat16, torch.float16)


def whisper() -> tuple[Any, dict[str, torch.Tensor]]:
    config = transformers.WhisperConfig(**TINY_WHISPER)
    inputs = {"input_features": numbers(1, 8, 16), "decoder_input_ids": torch.tensor([[3, 4]])}
    return transformers.WhisperForConditionalGeneration(config), inputs


def pix2struct() -> tuple[Any, dict[str, torch.Tensor]]:
    config = transformers.Pix2StructVisionConfig(
        hidden_size=16,
        patch_embed_hidden_size=12,
        d_ff=16,
        d_kv=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        seq_len=8,
    )
    patches = torch.cat([torch.ones(1, 4, 2), numbers(1, 4, 12)], dim=-1)
    return transformers.Pix2StructVisionModel(config), {"flattened_patches": patches}


def beit() -> tuple[Any, dict[str, torch.Tensor]]:
    config = transformers.BeitConfig(
        image_size=8,
        patch_size=4,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    return transformers.BeitModel(config), {"pixel_values": numbers(1, 3, 8, 8)}


def hubert() -> tuple[Any, dict[str, torch.Tensor]]:
    from transformers.models.hubert.modeling_hubert import HubertFeatureEncoder

    shape = {"conv_dim": (16, 16), "conv_kernel": (4, 4), "conv_stride": (2, 2)}
    config = transformers.HubertConfig(**shape, num_feat_extract_layers=2)
    return HubertFeatureEncoder(config), {"input_values": numbers(1, 40)}


def resnet() -> tuple[Any, dict[str, torch.Tensor]]:
    from transformers.models.resnet.modeling_resnet import ResNetEmbeddings

    config = transformers.ResNetConfig(embedding_size=16)
    return ResNetEmbeddings(config), {"pixel_values": numbers(1, 3, 8, 8)}


def speech_to_text() -> tuple[Any, dict[str, torch.Tensor]]:
    from transformers.models.speech_to_text.modeling_speech_to_text import Conv1dSubsampler

    sizes = {"d_model": 16, "conv_channels": 8, "input_feat_per_channel": 8}
    config = transformers.Speech2TextConfig(**sizes, num_conv_layers=1, conv_kernel_sizes=(3,))
    return Conv1dSubsampler(config), {"input_features": numbers(1, 8, 8)}


def swiftformer() -> tuple[Any, dict[str, torch.Tensor]]:
    from transformers.models.swiftformer.modeling_swiftformer import SwiftFormerPatchEmbedding

    config = transformers.SwiftFormerConfig(embed_dims=[8, 8, 8, 8])
    return SwiftFormerPatchEmbedding(config), {"x": numbers(1, 3, 16, 16)}


def bit() -> tuple[Any, dict[str, torch.Tensor]]:
    from transformers.models.bit.modeling_bit import BitEmbeddings

    config = transformers.BitConfig(embedding_size=8, num_groups=2)
    return BitEmbeddings(config), {"pixel_values": numbers(1, 3, 8, 8)}


def time_series() -> tuple[Any, dict[str, torch.Tensor]]:
    from transformers.models.time_series_transformer import modeling_time_series_transformer as it

    config = transformers.TimeSeriesTransformerConfig(
        d_model=16, decoder_layers=1, prediction_length=4, context_length=4
    )
    decoder = it.TimeSeriesTransformerDecoder(config)
    encoded = numbers(1, 4, 16).bfloat16().float()
    return decoder, {"inputs_embeds": numbers(1, 4, config.feature_size), "encoded": encoded}


def detr(kind: str = "Detr") -> tuple[Any, dict[str, torch.Tensor]]:
    backbone = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 8, 8, 8], depths=[1, 1, 1, 1]
    )
    sizes = {"encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "num_queries": 4}
    sizes |= dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 2)
    sizes |= dict.fromkeys(("encoder_layers", "decoder_layers"), 1)
    config = getattr(transformers, f"{kind}Config")(
        **sizes,
        **{"hidden_size" if kind == "DabDetr" else "d_model": 16},
        backbone_config=backbone,
        use_timm_backbone=False,
        use_pretrained_backbone=False,
    )
    model = getattr(transformers, f"{kind}Model")(config)
    return model, {"pixel_values": numbers(1, 3, 32, 32)}


def dab_detr() -> tuple[Any, dict[str, Any]]:
    return detr("DabDetr")


def timesfm() -> tuple[Any, dict[str, Any]]:
    sizes = {"hidden_size": 16, "intermediate_size": 16, "head_dim": 8, "num_attention_heads": 2}
    shape = {"patch_length": 4, "context_length": 16, "horizon_length": 4}
    config = transformers.TimesFmConfig(**sizes, **shape, num_hidden_layers=1)
    model = transformers.TimesFmModelForPrediction(config)
    return model, {"past_values": [numbers(16)], "freq": [0]}


def bros() -> tuple[Any, dict[str, Any]]:
    config = transformers.BrosConfig(
        vocab_size=64,
        hidden_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    ids = torch.arange(3, 9).reshape(1, 6)
    boxes = numbers(1, 6, 8)
    return transformers.BrosModel(config), {"input_ids": ids, "bbox": boxes}


class Method(torch.nn.Module):
    """One method of a module, as its `forward`; what else it gets has the module's dtype."""

    def __init__(self, module: torch.nn.Module, name: str, **others: torch.Tensor) -> None:
        super().__init__()
        self.module, self.name = module, name
        self.others = torch.nn.ParameterDict(others)

    def forward(self, **inputs: Any) -> Any:
        return getattr(self.module, self.name)(**inputs, **dict(self.others.items()))


def fuyu() -> tuple[Any, dict[str, Any]]:
    if int(transformers.__version__.partition(".")[0]) < 5:
        pytest.skip("these releases cast the pixels")
    sizes = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 16, "patch_size": 2}
    config = transformers.FuyuConfig(**sizes, num_hidden_layers=1, num_attention_heads=2)
    model = transformers.FuyuModel(config)
    return Method(model, "get_image_features"), {"pixel_values": numbers(1, 4, 12)}


def sam3() -> tuple[Any, dict[str, Any]]:
    from transformers.models.sam3 import Sam3GeometryEncoderConfig, modeling_sam3

    # As torchvision does it: one value a box, in the dtype of the features.
    regions = SimpleNamespace(roi_align=lambda seen, boxes, size: seen[:, :, :1, :1])
    modeling_sam3.torchvision = SimpleNamespace(ops=regions)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    config = Sam3GeometryEncoderConfig(**sizes, num_layers=1, roi_size=1)
    encoder = modeling_sam3.Sam3GeometryEncoder(config)
    inputs = {
        "boxes": numbers(1, 1, 4).abs(),
        "boxes_mask": torch.ones(1, 1, dtype=torch.bool),
        "boxes_labels": torch.ones(1, 1, dtype=torch.long),
    }
    return Method(encoder, "_encode_boxes", vision_features=numbers(1, 16, 4, 4)), inputs


def result(model: Any, inputs: dict[str, torch.Tensor], dtype: torch.dtype) -> torch.Tensor:
    given = {
        name: value.to(dtype) if value.is_floating_point() else value
        for name, value in inputs.items()
    }
    if "encoded" in given:  # what a decoder reads has the model's dtype
        weight = model.layernorm_embedding.weight
        given["encoder_hidden_states"] = given.pop("encoded").to(weight.dtype)
    with torch.no_grad():
        return model(**given)[0]


ALL = [(build, *pair) for build in (whisper, pix2struct) for pair in product(FLOATS, FLOATS)]
MIXED = [
    (build, *pair)
    for build in (beit, hubert, resnet, speech_to_text, swiftformer, bit, time_series, detr)
    for pair in [(torch.float32, torch.float16), (torch.bfloat16, torch.float32)]
]


@pytest.mark.parametrize(("build", "dtype", "given"), ALL + MIXED)
def test_inputs_of_any_dtype_are_those_of_the_model(build, dtype, given) -> None:
    torch.manual_seed(0)
    model, inputs = build()
    model = model.to(dtype).eval()
    rounded = {
        name: value.to(given).to(dtype) if value.is_floating_point() else value
        for name, value in inputs.items()
    }
    expected = result(model, rounded, dtype)
    with patchkit.patched(only=ID, strict=True):
        found = result(model, inputs, given)
    assert found.dtype == dtype
    assert torch.equal(found, expected)


MODELS = {
    dab_detr: "DabDetrModel",
    timesfm: "TimesFmModel",
    bros: "BrosModel",
    fuyu: "FuyuModel",
    sam3: "Sam3Model",
}


@pytest.mark.parametrize("build", MODELS)
def test_what_a_model_makes_in_float32_has_its_dtype(build) -> None:
    """Queries that begin as zeros, marks of what is padded, and places of words and boxes."""
    if not hasattr(transformers, MODELS[build]):
        pytest.skip("this release has no such model")
    torch.manual_seed(0)
    model, inputs = build()
    model.eval()
    with torch.no_grad():
        expected = model(**inputs)[0]
        with patchkit.patched(only=ID, strict=True):
            assert torch.equal(model(**inputs)[0], expected)
        with pytest.raises(RuntimeError, match=r"dtype|should be the same"):
            model.bfloat16()(**inputs)
        with patchkit.patched(only=ID, strict=True):
            found = model(**inputs)[0]
    assert found.dtype == torch.bfloat16
    assert (found - expected).norm() < 0.05 * expected.norm()


@pytest.mark.parametrize("build", [whisper, pix2struct, beit])
def test_under_autocast_nothing_changes(build) -> None:
    torch.manual_seed(0)
    model, inputs = build()
    model.eval()
    with torch.autocast("cpu", torch.bfloat16):
        expected = result(model, inputs, torch.float32)
        with patchkit.patched(only=ID, strict=True):
            found = result(model, inputs, torch.float32)
    assert torch.equal(found, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_pixels_compile_in_one_graph_where_dtypes_agree(dtype) -> None:
    torch.manual_seed(0)
    model, inputs = beit()
    layer = model.to(dtype).eval().embeddings.patch_embeddings
    pixels = inputs["pixel_values"].to(dtype)
    with torch.no_grad(), patchkit.patched(only=ID, strict=True):
        compiled = torch.compile(layer, backend="eager", fullgraph=True)
        expected, found = layer(pixels), compiled(pixels)
    torch._dynamo.reset()
    # Releases return the size of the grid, too.
    if isinstance(expected, tuple):
        expected, found = expected[0], found[0]
    assert torch.equal(found, expected)


def first_norm(name: str) -> Any:
    """Return a module that begins with a norm, in bfloat16."""
    sizes: dict[str, Any] = {"hidden_size": 16, "layer_norm_eps": 1e-6}
    torch.manual_seed(0)
    if name == "clap":
        sizes |= {"patch_embeds_hidden_size": 16, "spec_size": 32, "num_mel_bins": 16}
        sizes |= {"patch_size": 4, "patch_stride": [4, 4], "window_size": 4, "depths": [1]}
        config = transformers.ClapAudioConfig(**sizes, num_attention_heads=[2], num_hidden_layers=1)
        return transformers.ClapAudioModel(config).bfloat16().eval()
    if name == "bert":
        from transformers.models.bert.modeling_bert import BertEmbeddings

        return BertEmbeddings(transformers.BertConfig(**sizes)).bfloat16().eval()
    if name == "wav2vec2_bert":
        from transformers.models.wav2vec2_bert import modeling_wav2vec2_bert as modeling

        config = transformers.Wav2Vec2BertConfig(**sizes, feature_projection_input_dim=16)
        return modeling.Wav2Vec2BertFeatureProjection(config).bfloat16()
    if name == "seamless_m4t":
        from transformers.models.seamless_m4t import modeling_seamless_m4t as seamless

        config = transformers.SeamlessM4TConfig(**sizes, feature_projection_input_dim=16)
        return seamless.SeamlessM4TConformerFeatureProjection(config).bfloat16()
    modeling = pytest.importorskip("transformers.models.lfm3_vl.modeling_lfm3_vl")
    config = transformers.Lfm3VlConfig(
        vision_config={"hidden_size": 4, "num_attention_heads": 2, "spatial_merge_size": 2},
        text_config={"hidden_size": 64},
        projector_hidden_size=16,
    )
    return modeling.Lfm3VlMultiModalProjector(config).bfloat16()


@pytest.mark.parametrize("name", ["wav2vec2_bert", "seamless_m4t", "lfm3_vl", "clap", "bert"])
def test_a_norm_in_half_precision_takes_float32_on_a_cpu(name: str) -> None:
    module = first_norm(name)
    if name == "bert":
        given = {"inputs_embeds": numbers(1, 4, 16)}
    elif name == "clap":
        given = {"input_features": numbers(1, 1, 32, 16)}
    else:
        given = {"hidden_states": numbers(4, module.layer_norm.weight.numel())}

    def run() -> torch.Tensor:
        result = module(**given) if name in {"bert", "clap"} else module(*given.values())
        found: torch.Tensor = result if isinstance(result, torch.Tensor) else result[0]
        return found

    for autocast in (True, False):
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            with pytest.raises(RuntimeError, match="mixed dtype"):
                run()
            with patchkit.patched(only=ID, strict=True):
                assert run().dtype == torch.bfloat16
    module.half()
    with torch.no_grad():
        with pytest.raises(RuntimeError, match="mixed dtype"):
            run()
        with patchkit.patched(only=ID, strict=True):
            assert run().dtype == torch.float16
    module.float()
    with torch.no_grad():
        expected = run()
        with patchkit.patched(only=ID, strict=True):
            assert torch.equal(run(), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_a_batch_norm_takes_float32_under_autocast(dtype) -> None:
    """Autocast casts nothing for it, on no device."""
    module = first_norm("clap").to(dtype)
    x = numbers(1, 1, 32, 16)
    with torch.no_grad(), torch.autocast("cpu", dtype):
        expected = module(x.to(dtype))[0]
        with pytest.raises(RuntimeError, match="mixed dtype"):
            module(x)
        with patchkit.patched(only=ID, strict=True):
            assert torch.equal(module(x)[0], expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_spectra_in_half_precision_enter_a_float32_clap(dtype) -> None:
    module = first_norm("clap").float()
    x = numbers(1, 1, 32, 16)
    with torch.no_grad():
        expected = module(x)[0]
        with pytest.raises(RuntimeError, match="should be the same"):
            module(x.to(dtype))
        with patchkit.patched(only=ID, strict=True):
            found = module(x.to(dtype))[0]
    assert found.dtype == torch.float32
    assert (found - expected).norm() < 0.05 * expected.norm()


def test_a_norm_takes_what_packed_layers_hand_on() -> None:
    from transformers.models.informer.modeling_informer import InformerEncoder

    sizes = {
        "d_model": 16,
        "encoder_layers": 1,
        "encoder_attention_heads": 2,
        "prediction_length": 4,
    }
    config = transformers.InformerConfig(**sizes, context_length=4)
    torch.manual_seed(0)
    encoder = InformerEncoder(config).eval()
    given = numbers(1, 8, config.feature_size)
    with torch.no_grad():
        expected = encoder(inputs_embeds=given).last_hidden_state
        encoder.bfloat16().value_embedding.float()
        with torch.autocast("cpu", torch.bfloat16):
            encoder.value_embedding.register_forward_hook(lambda layer, _, result: result.float())
            with pytest.raises(RuntimeError, match="mixed dtype"):
                encoder(inputs_embeds=given)
            with patchkit.patched(only=ID, strict=True):
                found = encoder(inputs_embeds=given).last_hidden_state
    assert found.dtype == torch.bfloat16
    assert torch.allclose(found.float(), expected, atol=0.1)


def short_convolution():
    modeling = pytest.importorskip("transformers.models.lfm3_vl.modeling_lfm3_vl")
    config = transformers.Lfm3VlConfig(vision_config={"hidden_size": 4, "num_attention_heads": 2})
    return modeling.Lfm3VlVisionShortConv(config.vision_config, 0), numbers(16, 4), [[1, 4, 4]]


def subsampling():
    modeling = pytest.importorskip("transformers.models.lasr.modeling_lasr")
    sizes = dict.fromkeys(("num_mel_bins", "hidden_size", "subsampling_conv_channels"), 4)
    config = transformers.LasrEncoderConfig(**sizes)
    return modeling.LasrEncoderSubsampling(config), numbers(1, 24, 4)


@pytest.mark.parametrize(
    ("make", "layers"),
    [(short_convolution, ["spatial_conv"]), (subsampling, ["conv_0", "conv_1", "dense_1"])],
)
def test_a_convolution_takes_what_packed_layers_hand_on(make, layers: list[str]) -> None:
    """A packed layer returns the dtype of its input, as these in float32 do."""
    module, *given = make()
    with torch.no_grad():
        expected = module(*given)
        with patchkit.patched(only=ID, strict=True):
            assert torch.equal(module(*given), expected)
        for layer in layers:
            module.get_submodule(layer).bfloat16()
        with pytest.raises(RuntimeError, match="Input type"):
            module(*given)
        with patchkit.patched(only=ID, strict=True):
            assert torch.allclose(module(*given).float(), expected, atol=0.02)


@pytest.mark.parametrize("cls", ["NewFeatureProjection", "NewMultiModalProjector", "NewMerger"])
def test_what_may_be_the_first_norm_of_a_new_model_is_reported(cls: str) -> None:
    """The scan asks about a class that takes inputs; it knows layers, and projections looked at."""
    assert not is_harmless("new.modeling_new", cls)
    assert is_harmless("new.modeling_new", "NewEncoderLayer")
    assert is_harmless("hubert.modeling_hubert", "HubertFeatureProjection")


def is_harmless(module: str, cls: str) -> bool:
    targets = map(Target.parse, catalogue.load().entries[ID].patch.harmless)
    return any(
        fnmatchcase(f"transformers.models.{module}", target.module)
        and target.matches_qualname(f"{cls}.forward")
        for target in targets
    )

"""Models are loaded as a whole in the dtype that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import patchkit
from patchkit.catalogue import entries as catalogue
from patchkit.catalogue.resolution import resolve
from patchkit.lab import quantized, shapes

ID = "transformers-float32-parameters"
TWO_STREAM = "transformers-xlnet-two-stream-dtype"
ENTRIES = catalogue.load().entries
DUE = [resolve(ENTRIES[name].patch) for name in (ID, TWO_STREAM)]
pytestmark = [
    pytest.mark.skipif(any(due.verdict is not None for due in DUE), reason="not due"),
    pytest.mark.filterwarnings("ignore"),
]
ROUNDING = 0.05
HALVES = (torch.bfloat16, torch.float16)


def xlnet() -> Any:
    config = transformers.XLNetConfig(vocab_size=64, d_model=64, n_layer=2, n_head=2, d_inner=64)
    return transformers.XLNetLMHeadModel(config)


def deberta() -> Any:
    config = transformers.DebertaConfig(
        vocab_size=64,
        hidden_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
    )
    return transformers.DebertaForMaskedLM(config)


def wav2vec2() -> Any:
    config = transformers.Wav2Vec2Config(
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        conv_dim=(8,),
        conv_stride=(2,),
        conv_kernel=(3,),
        num_feat_extract_layers=1,
        num_codevector_groups=2,
        num_codevectors_per_group=4,
        codevector_dim=8,
        proj_codevector_dim=8,
        num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2,
    )
    return transformers.Wav2Vec2ForPreTraining(config)


def saved(build: Any, folder: Path) -> Any:
    torch.manual_seed(0)
    model = build()
    model.save_pretrained(folder)
    return model.eval()


def load(model: Any, folder: Path, dtype: torch.dtype, **options: Any) -> Any:
    return quantized.load(folder, loader=type(model), dtype=dtype, **options).eval()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("build", [xlnet, deberta, wav2vec2])
def test_every_parameter_has_the_dtype_asked_for(build, dtype, tmp_path) -> None:
    plain = saved(build, tmp_path)
    assert {parameter.dtype for parameter in load(plain, tmp_path, dtype).parameters()} != {dtype}
    with patchkit.patched(only=ID, strict=True):
        model = load(plain, tmp_path, dtype)
    assert {parameter.dtype for parameter in model.parameters()} == {dtype}
    for name, parameter in plain.named_parameters():
        assert torch.equal(model.get_parameter(name), parameter.to(dtype)), name


@pytest.mark.parametrize("build", [xlnet, deberta, wav2vec2])
def test_in_float32_nothing_changes(build, tmp_path) -> None:
    def made() -> dict[str, torch.Tensor]:
        torch.manual_seed(0)
        return build().state_dict()

    expected = made()
    with patchkit.patched(only=ID, strict=True):
        found = made()
        again = load(saved(build, tmp_path), tmp_path, torch.float32).state_dict()
    assert list(found) == list(expected)
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert all(torch.equal(again[name], expected[name]) for name in expected)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("build", [xlnet, deberta])
def test_a_model_in_half_precision_runs(build, dtype, tmp_path) -> None:
    plain = saved(build, tmp_path)
    ids = shapes.words()
    inputs = {"input_ids": ids, "attention_mask": (ids > 4).long()}
    with torch.no_grad():
        expected = plain(**inputs).logits
        with patchkit.patched(only=ID, strict=True):
            found = load(plain, tmp_path, dtype)(**inputs).logits
    assert found.dtype == dtype
    assert (found - expected).norm() < ROUNDING * expected.norm()


@pytest.mark.parametrize("kind", ["4bit", "8bit", None])
def test_xlnet_generates(kind, tmp_path) -> None:
    plain = saved(xlnet, tmp_path)
    options = {}
    if kind is not None:
        config = transformers.BitsAndBytesConfig(**{f"load_in_{kind}": True})
        options["quantization_config"] = config
    with patchkit.patched(only=[ID, TWO_STREAM], strict=True):
        model = load(plain, tmp_path, torch.bfloat16, **options)
        tokens = shapes.generate(model)
    assert tokens.shape[1] > shapes.words().shape[1]


@pytest.mark.parametrize("dtype", [torch.float32, *HALVES], ids=str)
def test_two_streams_compute_what_they_did_in_float32(dtype) -> None:
    torch.manual_seed(0)
    model = xlnet().eval()
    ids = shapes.words()
    mapping = torch.zeros(2, 1, 8)
    mapping[:, :, -1] = 1.0
    inputs = {"input_ids": ids, "target_mapping": mapping}
    with torch.no_grad():
        expected = model(**inputs).logits
        with patchkit.patched(only=TWO_STREAM, strict=True):
            found = model.to(dtype)(**inputs).logits
    assert found.dtype == dtype
    if dtype == torch.float32:
        assert torch.equal(found, expected)
    assert (found - expected).norm() < ROUNDING * expected.norm()

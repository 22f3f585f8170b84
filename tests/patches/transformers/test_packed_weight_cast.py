"""4-bit weights packed into a floating dtype, loaded in another one."""

from __future__ import annotations

import types
from pathlib import Path

import bitsandbytes as bnb
import pytest
import torch

import patchkit
from patchkit.lab import quantized, tiny
from patchkit.precision.loading import is_packed_weight

from ..due import only_if_due

PATCH = "transformers-packed-weight-cast"
due = only_if_due(PATCH)


def save(folder: Path, storage: torch.dtype, **options: int) -> Path:
    plain = tiny.build_causal_lm(folder / "plain", dtype="bfloat16")
    if not options:
        options = {"bnb_4bit_quant_storage": storage}
    return quantized.save(plain, folder / "packed", dtype="bfloat16", **options)


@due
@pytest.mark.parametrize("storage", [torch.bfloat16, torch.float16, torch.float32], ids=str)
def test_bytes_are_kept(tmp_path: Path, storage: torch.dtype) -> None:
    folder = save(tmp_path, storage)
    expected = quantized.packed_bytes(quantized.load(folder, dtype=str(storage)[6:]))
    for dtype in {"float16", "bfloat16", "float32"} - {str(storage)[6:]}:
        without = quantized.packed_bytes(quantized.load(folder, dtype=dtype))
        assert not all(torch.equal(without[name], expected[name]) for name in expected)
        with patchkit.patched(only=PATCH, strict=True):
            model = quantized.load(folder, dtype=dtype)
        found = quantized.packed_bytes(model)
        assert all(torch.equal(found[name], expected[name]) for name in expected)
        # What is not quantized is cast as before.
        assert model.model.norm.weight.dtype == getattr(torch, dtype)


@due
@pytest.mark.parametrize("options", [{"bits": 8}, {"bits": 4}])
def test_other_checkpoints_are_loaded_as_before(tmp_path: Path, options: dict[str, int]) -> None:
    folder = save(tmp_path, torch.uint8, **options)
    for checkpoint in (folder, tmp_path / "plain"):
        without = quantized.load(checkpoint, dtype="float16").state_dict()
        with patchkit.patched(only=PATCH, strict=True):
            found = quantized.load(checkpoint, dtype="float16").state_dict()
        assert found.keys() == without.keys()
        for name, tensor in without.items():
            if isinstance(tensor, torch.Tensor):
                assert tensor.dtype == found[name].dtype
                assert torch.equal(tensor, found[name])


def test_what_is_a_packed_weight() -> None:
    model = torch.nn.Sequential(bnb.nn.Linear4bit(64, 64, quant_type="nf4"), torch.nn.Linear(2, 2))
    quantized_before, on_the_fly = (
        types.SimpleNamespace(pre_quantized=each) for each in (True, False)
    )
    assert is_packed_weight(model, "0.weight", quantized_before)
    assert not is_packed_weight(model, "0.bias", quantized_before)
    assert not is_packed_weight(model, "1.weight", quantized_before)
    assert not is_packed_weight(model, "0.weight", on_the_fly)
    assert not is_packed_weight(model, "0.weight", None)

"""Adapters and what is saved with them, loaded with and without `low_cpu_mem_usage`."""

from __future__ import annotations

import itertools
from pathlib import Path

import peft
import pytest
import torch

import patchkit

ONLY = "peft-low-cpu-load-dtype"
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
CONFIGS = {
    "modules_to_save": {"target_modules": ["linear"], "modules_to_save": ["head"]},
    "adapter only": {"target_modules": ["linear", "head"]},
    "adapter on an embedding": {"target_modules": ["embedding", "head"]},
    "bias": {"target_modules": ["linear"], "bias": "all"},
}


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = torch.nn.Embedding(8, 8)
        self.linear = torch.nn.Linear(8, 8)
        self.norm = torch.nn.BatchNorm1d(8)
        self.head = torch.nn.Linear(8, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.linear(self.embedding(ids)))


def save(folder: Path, config: dict, dtype: torch.dtype) -> Path:
    made = peft.get_peft_model(
        Model().to(dtype),
        peft.LoraConfig(init_lora_weights=False, **config),
        autocast_adapter_dtype=False,
    )
    made.save_pretrained(folder)
    return folder


def load(folder: Path, dtype: torch.dtype, *, low: bool = True, **options):
    return peft.PeftModel.from_pretrained(
        Model().to(dtype), folder, low_cpu_mem_usage=low, **options
    ).eval()


def tensors(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return model.state_dict()


IDS = torch.arange(4)


@pytest.mark.parametrize("kind", CONFIGS)
@pytest.mark.parametrize(("saved", "loaded"), list(itertools.product(DTYPES, DTYPES)))
def test_the_same_as_without_the_option(saved, loaded, kind: str, tmp_path: Path) -> None:
    folder = save(tmp_path, CONFIGS[kind], saved)
    expected = load(folder, loaded, low=False)
    bare = load(folder, loaded)
    differ = saved != loaded and kind in ("modules_to_save", "bias")
    dtypes = {name: tensor.dtype for name, tensor in tensors(expected).items()}
    assert (dtypes != {name: tensor.dtype for name, tensor in tensors(bare).items()}) == differ
    with patchkit.patched(only=ONLY, strict=True):
        fixed = load(folder, loaded)
    assert tensors(fixed).keys() == tensors(expected).keys()
    for name, tensor in tensors(fixed).items():
        # Without the option adapter weights are at times rounded to the base's dtype first.
        like = bare if ".lora_" in name else expected
        assert tensor.dtype == dtypes[name], name
        assert torch.equal(tensor, tensors(like)[name]), name
    assert fixed(IDS).dtype == loaded
    if not differ:
        assert torch.equal(fixed(IDS), bare(IDS))


def test_a_second_adapter_leaves_the_first_as_it_is(tmp_path: Path) -> None:
    folder = save(tmp_path, CONFIGS["modules_to_save"], torch.float32)
    with patchkit.patched(only=ONLY, strict=True):
        model = load(folder, torch.bfloat16)
        before = {name: tensor.data_ptr() for name, tensor in tensors(model).items()}
        model.load_adapter(folder, "second", low_cpu_mem_usage=True)
        model.set_adapter("second")
        assert model(IDS).dtype == torch.bfloat16
    after = {name: tensor.data_ptr() for name, tensor in tensors(model).items()}
    assert all(after[name] == pointer for name, pointer in before.items())


def test_adapter_weights_as_before(tmp_path: Path) -> None:
    folder = save(tmp_path, CONFIGS["adapter only"], torch.float16)
    for cast in (True, False):
        before = tensors(load(folder, torch.bfloat16, autocast_adapter_dtype=cast))
        with patchkit.patched(only=ONLY, strict=True):
            after = tensors(load(folder, torch.bfloat16, autocast_adapter_dtype=cast))
        assert all(map(torch.equal, before.values(), after.values()))


def test_packed_and_missing_tensors_are_left_alone() -> None:
    import bitsandbytes
    from patchkit.patches.peft._assigned_state import cast_like_model

    layer = bitsandbytes.nn.Linear4bit(64, 64, quant_type="nf4", quant_storage=torch.bfloat16).to(
        "cpu"
    )
    layer.register_buffer("steps", torch.ones(2, dtype=torch.int64))
    layer.register_buffer("empty", torch.ones(2, device="meta"))
    half = {name: torch.ones(2).half() for name in ("weight", "steps", "empty", "unknown", "bias")}
    found = cast_like_model(half, layer)
    assert [name for name, tensor in found.items() if tensor is not half[name]] == ["bias"]
    assert found["bias"].dtype == layer.bias.dtype == torch.float32

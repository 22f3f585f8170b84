"""Batched generation, for real, and the trained parameters after it."""

from __future__ import annotations

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.catalogue.resolution import resolve

from ..due import only_if_due

ID = "trl-generation-cast"
CHANGES = resolve(catalogue.load().entries[ID].patch).changes
TARGETS = " ".join(change.target for change in CHANGES)
NAMES = {"GRPOTrainer": "grpo", "RLOOTrainer": "rloo", "OnlineDPOTrainer": "online_dpo"}
TRAINERS = [
    name
    for prefix, name in NAMES.items()
    if prefix in TARGETS and "experimental" not in TARGETS.partition(prefix)[0][-60:]
]

pytestmark = only_if_due(ID, unless_due="trl-fused-loss-without-triton")


@pytest.fixture
def runs_here(skip_if_measured_to_fail) -> None:
    skip_if_measured_to_fail("trl-generation-cast")


CODE = """
    import patchkit
    from patchkit.patches.trl._generation import train_with_batched_generation
    {apply}
    try:
        outcome = train_with_batched_generation("{trainer}", precision="{precision}")
        result = [outcome.trainable_dtypes, outcome.trainable_dtypes_after, outcome.changed > 0]
    except Exception as error:
        result = str(error)
"""
APPLY = "patchkit.apply(only='trl-generation-cast', strict=True)"


@pytest.mark.usefixtures("runs_here")
@pytest.mark.parametrize("trainer", TRAINERS)
def test_fp16(forked, trainer: str) -> None:
    code = {"trainer": trainer, "precision": "fp16"}
    assert forked(CODE.format(apply="", **code)) == "Attempting to unscale FP16 gradients."
    before, after, changed = forked(CODE.format(apply=APPLY, **code))
    assert set(before) == set(after) == {"float32"}
    assert changed


@pytest.mark.usefixtures("runs_here")
def test_bf16_trains_on_in_float32(forked) -> None:
    code = {"trainer": "grpo", "precision": "bf16"}
    assert set(forked(CODE.format(apply="", **code))[1]) == {"bfloat16"}
    before, after, changed = forked(CODE.format(apply=APPLY, **code))
    assert set(before) == set(after) == {"float32"}
    assert changed


def test_every_tensor_comes_back_bit_for_bit() -> None:
    import types

    import torch
    from patchkit.patches.trl._generation import half_precision_for_generation

    model = torch.nn.BatchNorm1d(3)
    model.weight.data = torch.tensor([1.0, 1 / 3, 1e-6])
    model.bias.data = model.bias.data.bfloat16()
    before = {name: tensor.data_ptr() for name, tensor in model.state_dict().items()}
    args = types.SimpleNamespace(bf16=False, fp16=True)
    with pytest.raises(RuntimeError), half_precision_for_generation(model, args):
        assert model.weight.dtype == model.bias.dtype == torch.float16
        assert model.running_mean.dtype == torch.float32
        raise RuntimeError
    assert {name: tensor.data_ptr() for name, tensor in model.state_dict().items()} == before
    with half_precision_for_generation(model, types.SimpleNamespace(bf16=False, fp16=False)):
        assert model.weight.dtype == torch.float32


def test_packed_weights_are_not_cast() -> None:
    import types

    import bitsandbytes
    import torch
    from patchkit.patches.trl._generation import half_precision_for_generation

    layer = bitsandbytes.nn.Linear4bit(
        64, 64, bias=True, quant_type="nf4", quant_storage=torch.bfloat16
    )
    layer = layer.to("cpu")
    packed = layer.weight.data.clone()
    assert packed.dtype == torch.bfloat16
    with half_precision_for_generation(layer, types.SimpleNamespace(bf16=False, fp16=True)):
        assert layer.weight.dtype == torch.bfloat16
        assert torch.equal(layer.weight.data.view(torch.uint8), packed.view(torch.uint8))
        assert layer.bias.dtype == torch.float16

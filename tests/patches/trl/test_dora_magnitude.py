"""DoRA's magnitude vectors in training, alone and beside the patch of the cast itself."""

from __future__ import annotations

import types

import pytest

import patchkit
from patchkit.lab.reproduce import train_in_temporary_folder

from ..due import only_if_due

ID = "trl-dora-magnitude"
CAST = "trl-adapter-bf16-cast"
pytestmark = pytest.mark.usefixtures("nothing_stays_applied")

due = only_if_due(ID)


def train(trainer: str = "reward", **options):
    options = {"precision": "bf16", "quantization": "4bit", "lora": {"use_dora": True}, **options}
    return train_in_temporary_folder(trainer, args={"learning_rate": 1e-3}, **options)


MIXED = {"bfloat16": 28, "float32": 14}
CASES = {
    "neither": ([], {}, {"bfloat16": 42}),
    "this_one": ([ID], {}, MIXED),
    "both": ([ID, CAST], {}, {"float32": 42}),
    "both_and_upstream_s_cast_by_choice": ([ID, CAST], {"adapter_cast": "bf16"}, MIXED),
    "upstream_s_cast_by_choice": ([CAST], {"adapter_cast": "bf16"}, {"bfloat16": 42}),
}


@due
@pytest.mark.parametrize("case", CASES)
def test_dtypes(case: str) -> None:
    only, settings, expected = CASES[case]
    if only:
        patchkit.apply(only=only, strict=True, **settings)
    outcome = train()
    assert outcome.trainable_dtypes == outcome.trainable_dtypes_after == expected
    assert outcome.changed == (28 if "float32" not in expected else 42)


@due
@pytest.mark.parametrize("trainer", ["sft"])
def test_other_trainers(trainer: str) -> None:
    assert train(trainer).trainable_dtypes == {"bfloat16": 42}
    with patchkit.patched(only=ID, strict=True):
        assert train(trainer).trainable_dtypes == MIXED


@due
@pytest.mark.parametrize(
    "options",
    [{"lora": {}}, {"quantization": "none"}, {"precision": "fp32", "lora": {}}],
    ids=["plain_lora", "not_quantized", "fp32"],
)
def test_nothing_else_changes(options) -> None:
    before = train(**options)
    with patchkit.patched(only=ID, strict=True):
        after = train(**options)
    assert before.trainable_dtypes == after.trainable_dtypes
    assert before.losses == after.losses


@due
@pytest.mark.parametrize("first", [ID, CAST])
@pytest.mark.parametrize("first_back", [ID, CAST])
def test_any_order(first: str, first_back: str) -> None:
    """Whichever comes or goes first, the other one's edits stay; then the code is as it was."""
    from trl import RewardTrainer

    code = RewardTrainer.__init__.__code__
    both = {ID, CAST}
    for patch_id in (first, *(both - {first})):
        patchkit.apply(only=patch_id, strict=True, adapter_cast="bf16")
    assert train().trainable_dtypes == MIXED
    patchkit.revert(only=first_back)
    expected = MIXED if first_back == CAST else {"bfloat16": 42}
    assert train().trainable_dtypes == expected
    patchkit.revert()
    assert RewardTrainer.__init__.__code__ is code


@pytest.mark.parametrize("sharded", ["", "ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED"])
def test_where_parameters_are_sharded_all_are_cast(monkeypatch, sharded: str) -> None:
    import peft
    import torch

    from patchkit.precision.adapters import parameters_to_cast

    if sharded:
        monkeypatch.setenv(sharded, "true")
    base = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    model = peft.get_peft_model(base, peft.LoraConfig(target_modules=["0"], use_dora=True))
    found = {id(parameter) for parameter in parameters_to_cast(model, types.SimpleNamespace())}
    left_out = [name for name, parameter in model.named_parameters() if id(parameter) not in found]
    assert len(left_out) == (0 if sharded else 1)
    assert all("magnitude" in name for name in left_out)
    assert len(found) + len(left_out) == len(list(model.parameters()))

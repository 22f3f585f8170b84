"""Adapters of models that FSDP wraps, block by block, saved and loaded."""

from __future__ import annotations

from functools import partial
from typing import Any

import peft
import pytest
import torch
from packaging.version import Version
from torch.distributed.fsdp import FullyShardedDataParallel

import patchkit

ONLY = "peft-fsdp-names"
pytestmark = pytest.mark.usefixtures("one_rank")
SAVES_NOTHING = Version(peft.__version__) >= Version("0.21")
CONFIGS: dict[str, dict[str, Any]] = {
    "adapter": {},
    "bias": {"bias": "lora_only"},
    "copy of the head": {"modules_to_save": ["head"]},
    "copy in a block": {"modules_to_save": ["norm"]},
    "ia3": {"peft_type": "IA3", "feedforward_modules": []},
}
wrapped = partial(FullyShardedDataParallel, use_orig_params=True, device_id=torch.device("cpu"))


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.norm(self.linear(inputs))


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.blocks = torch.nn.ModuleList([Block(), Block()])
        self.head = torch.nn.Linear(4, 2)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            inputs = block(inputs)
        return self.head(inputs)


def adapted(kind: str) -> Any:
    options = {"target_modules": ["linear"], "peft_type": "LORA", **CONFIGS[kind]}
    return peft.get_peft_model(Model(), peft.get_peft_config(options))


def sharded(kind: str) -> Any:
    model = adapted(kind)
    blocks = model.base_model.model.blocks
    for place, block in enumerate(blocks):
        blocks[place] = wrapped(block)
    return wrapped(model)


def same(some: dict[str, torch.Tensor], others: dict[str, torch.Tensor]) -> bool:
    return some.keys() == others.keys() and all(map(torch.equal, some.values(), others.values()))


@pytest.mark.parametrize("below", [False, True], ids=["the wrapper", "what it wraps"])
@pytest.mark.parametrize("kind", CONFIGS)
def test_as_without_fsdp(kind: str, below: bool) -> None:
    expected = peft.get_peft_model_state_dict(adapted(kind))
    raised = {name: value + 1 for name, value in expected.items()}
    with patchkit.patched(only=ONLY, strict=True):
        model = sharded(kind)
        asked = model.module if below else model
        given = peft.get_peft_model_state_dict(asked)
        assert same({name: given[name] for name in expected}, expected)
        assert len(given) == len(expected)
        assert not peft.set_peft_model_state_dict(asked, dict(raised)).unexpected_keys
        again = peft.get_peft_model_state_dict(asked)
    assert same({name: again[name] for name in expected}, raised)


@pytest.mark.parametrize("kind", CONFIGS)
def test_nothing_changes_without_fsdp(kind: str) -> None:
    model, other = adapted(kind), adapted(kind)
    saved = {name: value.clone() for name, value in peft.get_peft_model_state_dict(model).items()}
    raised = {name: value + 1 for name, value in saved.items()}
    before = str(peft.set_peft_model_state_dict(model, dict(raised)))
    with patchkit.patched(only=ONLY, strict=True):
        assert same(peft.get_peft_model_state_dict(other), saved)
        assert str(peft.set_peft_model_state_dict(other, dict(raised))) == before
    assert same(other.state_dict(), model.state_dict())


@pytest.mark.skipif(not SAVES_NOTHING, reason="this PEFT takes names of weights")
def test_layers_are_found_by_both_names() -> None:
    from peft.tuners.tuners_utils import _get_tuner_state_dict_key_prefixes as prefixes

    model, plain = sharded("adapter").module, adapted("adapter")
    before = prefixes(model)
    expected = prefixes(plain)
    assert not before & {name for name in expected if "blocks" in name}
    with patchkit.patched(only=ONLY, strict=True):
        # By the names of layers PEFT freezes all but adapters.
        assert prefixes(model) == before | expected
        assert prefixes(plain) == expected


def test_weights_of_adapters_are_lost_without_it() -> None:
    kind = "adapter" if SAVES_NOTHING else "copy in a block"
    model = sharded(kind)
    if SAVES_NOTHING:
        assert not peft.get_peft_model_state_dict(model)
    else:
        with pytest.raises(KeyError, match=r"modules_to_save\.default\.weight"):
            peft.get_peft_model_state_dict(model)

"""HRA, which multiplies with the weight of its base layer by itself."""

from __future__ import annotations

import copy
from typing import Any

import peft
import pytest
import torch

import patchkit
from patchkit.lab import quantized, shapes

from ..due import only_if_due
from ..snippets import distance

PATCH = "peft-hra-packed-base"
#: What such a model needs besides, on some CPUs and for the dtype of its merged weights.
OTHERS = ("peft-merge-packed-base", "bitsandbytes-cpu-inference-packing")
pytestmark = [only_if_due(PATCH), pytest.mark.filterwarnings("ignore")]


def adapted(model: Any, *, init_weights: bool = False) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = peft.HRAConfig(
            r=4, target_modules=["q_proj", "up_proj"], init_weights=init_weights
        )
        return peft.get_peft_model(model, config).eval()


@pytest.mark.parametrize("bits", [4, 8])
def test_logits_are_those_of_the_values(load: Any, bits: int) -> None:
    model = load(bits)
    dense = adapted(copy.deepcopy(model).dequantize())
    model = adapted(model)
    with torch.no_grad():
        expected = shapes.forward(dense)
        if bits == 4:
            with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
                shapes.forward(copy.deepcopy(model))
        else:
            assert distance(shapes.forward(model), expected) > 0.5
        with patchkit.patched(only=[PATCH, *OTHERS], strict=True):
            assert distance(shapes.forward(model), expected) < 0.03


@pytest.mark.parametrize("bits", [4, 8])
def test_trained_and_merged(load: Any, bits: int) -> None:
    model = adapted(load(bits))
    with patchkit.patched(only=[PATCH, *OTHERS], strict=True):
        quantized.step(model.train())
        with torch.no_grad():
            before = shapes.forward(model.eval())
            after = shapes.forward(model.merge_and_unload())
    # 4-bit weights are rounded again.
    assert distance(after, before) < {4: 0.5, 8: 0.06}[bits]


def test_plain_bases_compute_as_before(saved: Any) -> None:
    model = adapted(quantized.load(saved().parent / "plain-bfloat16", dtype="bfloat16"))
    with torch.no_grad():
        without = shapes.forward(model)
        with patchkit.patched(only=PATCH, strict=True):
            assert torch.equal(shapes.forward(model), without)

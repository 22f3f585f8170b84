"""LongCat-Flash's router with a quantized `classifier`, whose weight it multiplies with."""

from __future__ import annotations

from typing import Any

import bitsandbytes as bnb
import pytest
import torch

import patchkit

from ..due import only_if_due
from ..snippets import distance

ID = "transformers-packed-router"
pytestmark = only_if_due(ID)
#: How far the weights of experts may be from those before, relative to their size.
ROUNDING = {"8bit": 0.02, "4bit": 0.2}


def router(kind: str, bias: bool = False) -> Any:
    import transformers
    from transformers.models.longcat_flash import modeling_longcat_flash

    torch.manual_seed(0)
    config = transformers.LongcatFlashConfig(hidden_size=64)
    config.router_bias = bias
    made = modeling_longcat_flash.LongcatFlashTopkRouter(config).eval().requires_grad_(False)
    plain = made.classifier
    if kind == "8bit":
        made.classifier = bnb.nn.Linear8bitLt(
            64, plain.out_features, bias=bias, has_fp16_weights=False
        )
    elif kind == "4bit":
        made.classifier = bnb.nn.Linear4bit(64, plain.out_features, bias=bias, quant_type="nf4")
    if kind != "plain":
        made.classifier.load_state_dict(plain.state_dict())
    return made.to("cpu")


def words(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(6, 64, dtype=dtype)


def weights(made: Any, inputs: torch.Tensor) -> torch.Tensor:
    """Return those of the chosen experts; releases return indices and logits, too."""
    numbers = [part for part in made(inputs) if part.is_floating_point()]
    return min(numbers, key=lambda part: part.shape[-1]).sort().values


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", ROUNDING)
def test_as_before_quantization(kind: str, dtype: torch.dtype, bias: bool) -> None:
    expected = weights(router("plain", bias), words(dtype))
    with patchkit.patched(only=ID, strict=True):
        found = weights(router(kind, bias), words(dtype))
    assert distance(found, expected) < ROUNDING[kind]


def test_without_it() -> None:
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        router("4bit")(words())
    assert distance(weights(router("8bit"), words()), weights(router("plain"), words())) > 10


def test_an_adapter_counts() -> None:
    import peft

    adapted = router("4bit")
    config = peft.LoraConfig(target_modules=["classifier"], init_lora_weights=False)
    peft.inject_adapter_in_model(config, adapted)
    with patchkit.patched(only=ID, strict=True):
        assert not torch.equal(weights(adapted, words()), weights(router("4bit"), words()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_nothing_changes_where_nothing_is_quantized(dtype: torch.dtype) -> None:
    expected = router("plain")(words(dtype))
    with patchkit.patched(only=ID, strict=True):
        found = router("plain")(words(dtype))
    assert all(map(torch.equal, found, expected))

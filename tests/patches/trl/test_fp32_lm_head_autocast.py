"""In which dtype a head computes that GRPO was told to cast to float32."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from patchkit.patches.trl._lm_head import (
    WithoutAutocast,
    cast_input_outside_autocast,
    trained_logits_dtypes,
)

import patchkit

from ..due import only_if_due

PATCH = "trl-fp32-lm-head-autocast"
due = only_if_due(PATCH)


@due
def test_in_a_training() -> None:
    assert trained_logits_dtypes(cast_lm_head_to_fp32=True) == {"bfloat16"}
    with patchkit.patched(only=PATCH, strict=True):
        assert trained_logits_dtypes(cast_lm_head_to_fp32=True) == {"float32"}
        # Near misses: without the option autocast decides, and in float32 there is none.
        assert trained_logits_dtypes() == {"bfloat16"}
        assert trained_logits_dtypes(precision="fp32", cast_lm_head_to_fp32=True) == {"float32"}


def _head() -> tuple[torch.nn.Linear, torch.Tensor]:
    torch.manual_seed(0)
    return torch.nn.Linear(16, 8), torch.randn(2, 16).bfloat16()


def _to_float32(module: Any, inputs: Any) -> Any:
    return (inputs[0].float(), *inputs[1:])


def test_same_numbers_as_without_autocast() -> None:
    head, hidden = _head()
    expected = head(hidden.float())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rounded = head(hidden)
    cast_input_outside_autocast(head, _to_float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = head(hidden)
        again = torch.nn.functional.linear(hidden, head.weight)
    assert rounded.dtype == again.dtype == torch.bfloat16  # what is around it stays as it is
    assert torch.equal(result, expected)
    assert torch.equal(head(hidden), expected)
    result.sum().backward()
    assert head.weight.grad is not None
    assert head.weight.grad.dtype == torch.float32


def test_copies_run_on_their_own_weights() -> None:
    head, hidden = _head()
    cast_input_outside_autocast(head, _to_float32)
    other = copy.deepcopy(head)
    with torch.no_grad():
        other.weight.zero_()
        other.bias.zero_()
    assert not other(hidden).any()
    assert head(hidden).any()


def test_arguments_and_errors_pass_through() -> None:
    def forward(hidden: torch.Tensor, scale: float, *, bias: float) -> torch.Tensor:
        if scale == 0:
            raise ValueError("scale")
        return hidden * scale + bias

    wrapped = WithoutAutocast(forward)
    assert wrapped(torch.ones(1), 2.0, bias=1.0).item() == 3
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with pytest.raises(ValueError, match="scale"):
            wrapped(torch.ones(1), 0, bias=1.0)
        assert torch.is_autocast_enabled("cpu")

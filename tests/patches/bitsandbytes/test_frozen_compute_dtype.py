"""Layers without a compute dtype, warmed up with inputs of one dtype and used with another's."""

from __future__ import annotations

import itertools
import logging
import warnings

import pytest
import torch
from bitsandbytes.nn import Linear4bit

import patchkit

ONLY = "bitsandbytes-compute-dtype-frozen"
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
PAIRS = list(itertools.permutations(DTYPES, 2))


def layer(compute: torch.dtype | None = None) -> Linear4bit:
    torch.manual_seed(0)
    return Linear4bit(64, 64, compute_dtype=compute, quant_type="nf4", bias=True).to("cpu").train()


def inputs(dtype: torch.dtype) -> torch.Tensor:
    return torch.linspace(-1, 1, 2 * 64, dtype=dtype).reshape(2, 64)


def outcome(first: torch.dtype, then: torch.dtype, compute: torch.dtype | None = None):
    warmed_up = layer(compute)
    warmed_up.bias.requires_grad_(False)
    warmed_up(inputs(first))
    return warmed_up(inputs(then)), warmed_up.compute_dtype


@pytest.mark.parametrize(("first", "then"), PAIRS)
def test_each_input_in_its_own_dtype(first: torch.dtype, then: torch.dtype) -> None:
    warmed_up, written_down = outcome(first, then)
    if first != torch.float16:
        assert written_down == first
    with patchkit.patched(only=ONLY, strict=True):
        fixed, compute = outcome(first, then)
        cold = layer()
        # What the bias was rounded to by the first input is another matter.
        cold.bias = torch.nn.Parameter(cold.bias.to(first), requires_grad=False)
        expected = cold(inputs(then))
    assert compute is None
    assert fixed.dtype == warmed_up.dtype == then
    assert torch.equal(fixed, expected)
    # float16 was never written down; a float32 product rounded to half is at times the same.
    assert torch.equal(fixed, warmed_up) == (first == torch.float16)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_dtype_throughout_is_the_same_as_before(dtype: torch.dtype) -> None:
    before, _ = outcome(dtype, dtype)
    with patchkit.patched(only=ONLY, strict=True):
        after, _ = outcome(dtype, dtype)
    assert torch.equal(before, after)


@pytest.mark.parametrize("compute", DTYPES)
@pytest.mark.parametrize(("first", "then"), PAIRS)
def test_a_given_compute_dtype_holds(first, then, compute: torch.dtype) -> None:
    before = outcome(first, then, compute)
    with patchkit.patched(only=ONLY, strict=True):
        after = outcome(first, then, compute)
    assert torch.equal(before[0], after[0])
    assert before[1] == after[1] == compute


def test_a_compute_dtype_assigned_later_is_treated_as_before() -> None:
    def run() -> torch.dtype:
        assigned = layer()
        assigned.compute_dtype = torch.float16
        assigned(inputs(torch.bfloat16))
        return assigned.compute_dtype

    before = run()
    with patchkit.patched(only=ONLY, strict=True):
        assert run() == before


def test_the_same_warnings(caplog: pytest.LogCaptureFixture) -> None:
    def warned() -> list[str]:
        caplog.clear()
        with warnings.catch_warnings(record=True) as seen, caplog.at_level(logging.WARNING):
            warnings.simplefilter("always")
            for dtype, rows in itertools.product(DTYPES, (1, 2)):
                layer()(inputs(dtype)[:rows])
        said = [str(warning.message) for warning in seen] + caplog.messages
        return [text for text in said if "Linear4bit" in text]

    before = warned()
    with patchkit.patched(only=ONLY, strict=True):
        assert warned() == before

"""BEMA's average and synchronized reference models, in half precision."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch
from patchkit.patches.trl import _moving_averages as averages
from patchkit.patches.trl import _reference_average as helper

import patchkit
from patchkit.catalogue import entries as catalogue
from patchkit.catalogue.resolution import resolve

BEMA, REFERENCE = "trl-bema-half-precision", "trl-reference-sync-half-precision"
#: What 300 updates of BEMA and 100 synchronizations at 0.05 cover in exact arithmetic.
BEMA_COVERS, REFERENCE_COVERS = 0.968, 0.994

bema = pytest.mark.skipif(
    resolve(catalogue.load().entries[BEMA].patch).verdict is not None, reason="no BEMA here"
)


def patched(patch: str) -> Any:
    return patchkit.patched(only=patch, strict=True)


@bema
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_bema_of_a_half_precision_model(dtype: str) -> None:
    assert averages.share_covered_by_bema(dtype, updates=300) < 0.7
    with patched(BEMA):
        covered = averages.share_covered_by_bema(dtype, updates=300)
    assert covered == pytest.approx(BEMA_COVERS, abs=0.002)


@bema
@pytest.mark.parametrize("options", [{}, {"update_after": 3}, {"update_freq": 5}])
def test_bema_of_a_float32_model_is_as_before(options: dict[str, int]) -> None:
    without = averages.share_covered_by_bema("float32", updates=20, **options)
    with patched(BEMA):
        assert averages.share_covered_by_bema("float32", updates=20, **options) == without


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_reference_in_half_precision(dtype: str) -> None:
    options = {"alpha": 0.05, "updates": 100}
    assert averages.share_covered_by_reference(dtype, **options) < 0.2
    with patched(REFERENCE):
        covered = averages.share_covered_by_reference(dtype, **options)
    assert covered == pytest.approx(REFERENCE_COVERS, abs=0.03)


@pytest.mark.parametrize(
    ("dtype", "alpha"),
    [("float32", 0.05), ("float32", 0.6), ("bfloat16", 0.6), ("float16", 0.6), ("bfloat16", 1.0)],
)
def test_reference_is_synchronized_as_before(dtype: str, alpha: float) -> None:
    options = {"alpha": alpha, "updates": 5}
    without = averages.share_covered_by_reference(dtype, **options)
    with patched(REFERENCE):
        assert averages.share_covered_by_reference(dtype, **options) == without


def _pair() -> tuple[torch.nn.Parameter, torch.nn.Parameter]:
    target, source = (torch.nn.Parameter(torch.ones(8).bfloat16()) for _ in range(2))
    source.data.mul_(1.01)
    return target, source


def test_same_numbers_as_a_float32_average_rounded() -> None:
    target, source = _pair()
    exact = target.detach().float()
    for _ in range(50):
        helper.move_towards(target, source, 0.05)
        exact = 0.95 * exact + 0.05 * source.detach().float()
        assert torch.equal(target.detach(), exact.bfloat16())


@pytest.mark.parametrize("in_place", [True, False])
def test_starts_anew_where_someone_else_wrote(in_place: bool) -> None:
    target, source = _pair()
    helper.move_towards(target, source, 0.05)
    if in_place:
        with torch.no_grad():
            target.copy_(torch.full((8,), 3.0))
    else:
        target.data = torch.full((8,), 3.0).bfloat16()
    helper.move_towards(target, source, 0.05)
    assert torch.equal(target.detach(), torch.full((8,), 0.95 * 3 + 0.05 * 1.0078125).bfloat16())


def test_average_goes_with_its_parameter() -> None:
    known = helper._known_averages()
    before = len(known)
    target, source = _pair()
    helper.move_towards(target, source, 0.05)
    assert len(known) == before + 1
    del target
    gc.collect()
    assert len(known) == before


def test_gathered_parameters_are_left_to_upstream() -> None:
    target, source = _pair()
    target.ds_id = 0
    before = len(helper._known_averages())
    helper.move_towards(target, source, 0.05)
    assert len(helper._known_averages()) == before
    assert torch.equal(target.detach(), torch.ones(8).bfloat16())

"""Losses with label smoothing, by the dtype of the logits."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from patchkit.patches.transformers._label_smoothing import half_precision_evaluation_loss
from transformers.trainer_pt_utils import LabelSmoother

import patchkit

PATCH = "transformers-label-smoothing-overflow"
#: 16 x 1024 tokens at a loss of about 13 add up to three times what float16 holds.
ROWS, TOKENS = 16, 1024


def patched() -> Any:
    return patchkit.patched(only=PATCH, strict=True)


def batch(rows: int = ROWS) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    logits = 5 * torch.randn(rows, TOKENS, 90, generator=generator)
    labels = torch.randint(0, 90, (rows, TOKENS), generator=generator)
    labels[:, :7] = -100
    return logits, labels


def loss(logits: torch.Tensor, labels: torch.Tensor, **options: Any) -> torch.Tensor:
    return LabelSmoother(0.1)({"logits": logits}, labels, **options)


@pytest.mark.parametrize("shift", [True, False])
def test_float16(shift: bool) -> None:
    logits, labels = batch()
    logits = logits.half().requires_grad_()
    assert loss(logits, labels, shift_labels=shift).isinf()
    with patched():
        result = loss(logits, labels, shift_labels=shift)
        expected = loss(logits.detach().float(), labels, shift_labels=shift)
    assert result.item() == pytest.approx(expected.item(), rel=1e-3)
    result.backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    assert logits.grad.any()


def test_bfloat16_is_not_rounded() -> None:
    logits, labels = batch(rows=1)
    logits = logits.bfloat16()
    with patched():
        after = loss(logits, labels)
    gathered = -logits.log_softmax(-1).gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    active = labels != -100
    smooth = -logits.log_softmax(-1).double().mean(-1)[active].mean()
    exact = 0.9 * gathered.double()[active].mean() + 0.1 * smooth
    assert after.item() == pytest.approx(exact.item(), rel=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_wider_logits_give_the_very_same(dtype: torch.dtype) -> None:
    logits, labels = batch(rows=2)
    results = []
    for manager in (patchkit.patched(only=[]), patched()):
        given = logits.to(dtype).requires_grad_()
        with manager:
            result = loss(given, labels)
        result.backward()
        results.append((result, given.grad))
    (before, before_grad), (after, after_grad) = results
    assert before.dtype == after.dtype
    assert torch.equal(before, after)
    assert torch.equal(before_grad, after_grad)


def test_evaluation_by_the_trainer() -> None:
    with patched():
        half = half_precision_evaluation_loss("float16")
    full = half_precision_evaluation_loss("float32")
    assert math.isfinite(full)
    assert half == pytest.approx(full, rel=2e-2)

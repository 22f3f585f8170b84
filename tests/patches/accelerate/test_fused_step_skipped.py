"""Steps that GradScaler skips are noticed, whether the scaler or the fused optimizer skips them."""

from __future__ import annotations

import pytest

OVERFLOWS = """
    import torch
    from accelerate import Accelerator
    from patchkit.lab import cuda_fp16
    import patchkit

    cuda_fp16.install()
    {apply}
    accelerator = Accelerator(mixed_precision="{precision}")
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.{optimizer}(model.parameters(), lr=0.1, fused={fused})
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    model, optimizer, schedule = accelerator.prepare(model, optimizer, schedule)
    {late}
    skipped = []
    for overflow in (True, False, True, False):
        accelerator.backward(model(torch.ones(2, 4)).float().pow(2).mean())
        if overflow and {inject}:
            model.weight.grad[0, 0] = float("inf")
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        skipped.append(accelerator.optimizer_step_was_skipped)
    result = {{"skipped": skipped, "rates": schedule.scheduler.last_epoch}}
"""
APPLY = "patchkit.apply(only='accelerate-fused-step-skipped', skipped_steps=True, strict=True)"
NOTICED = {"skipped": [True, False, True, False], "rates": 2}
NONE = {"skipped": [False] * 4, "rates": 4}


def overflows(
    forked, *, apply=APPLY, late="", optimizer="AdamW", fused=True, precision="fp16", inject=True
):
    return forked(
        OVERFLOWS.format(
            apply=apply,
            late=late,
            optimizer=optimizer,
            fused=fused,
            precision=precision,
            inject=inject,
        )
    )


@pytest.mark.parametrize("optimizer", ["AdamW", "SGD"])
def test_fused_optimizers(forked, optimizer: str) -> None:
    assert overflows(forked, apply="", optimizer=optimizer) == NONE
    assert overflows(forked, optimizer=optimizer) == NOTICED
    assert overflows(forked, apply="", late=APPLY, optimizer=optimizer) == NOTICED


@pytest.mark.parametrize("apply", ["", APPLY])
def test_what_was_right_stays(forked, apply: str) -> None:
    assert overflows(forked, apply=apply, fused=False) == NOTICED
    assert overflows(forked, apply=apply, inject=False) == NONE
    assert overflows(forked, apply=apply, precision="no", inject=False) == NONE

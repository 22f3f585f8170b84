"""Optimizer states of another dtype than their parameter: what torch's Adam refuses, and what is meant."""

from __future__ import annotations

import pytest

import patchkit
from patchkit.inspection.findings import Severity


def stepped(optimizer):
    import torch

    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.full_like(parameter, 1e-2)
    optimizer.step()
    return optimizer


def model_of(dtype: str):
    import torch

    return torch.nn.Linear(64, 64).to(getattr(torch, dtype))


CASES = {
    "cast to float32 after a step": ("AdamW", "bfloat16", "float32", Severity.ERROR),
    "cast to bfloat16 after a step": ("AdamW", "float32", "bfloat16", Severity.ERROR),
    "momentum": ("SGD", "bfloat16", "float32", Severity.WARNING),
    "the same dtype": ("AdamW", "float32", "float32", None),
    "bfloat16 throughout": ("AdamW", "bfloat16", "bfloat16", None),
}


@pytest.mark.parametrize("case", CASES)
def test_states_of_torch(look, case: str) -> None:
    import torch

    name, before, after, severity = CASES[case]
    options = {"momentum": 0.9} if name == "SGD" else {}
    model = model_of(before)
    optimizer = stepped(getattr(torch.optim, name)(model.parameters(), lr=1e-2, **options))
    for parameter in model.parameters():
        parameter.grad = None
        parameter.data = parameter.data.to(getattr(torch, after))
    findings = look(model, None, optimizer)
    assert ("optimizer-state-dtype" in findings) is (severity is not None)
    if severity is None:
        return
    assert findings["optimizer-state-dtype"].severity is severity
    if severity is Severity.ERROR:
        with pytest.raises(RuntimeError, match="expected dtype"):
            stepped(optimizer)
    findings = look(model, None, optimizer, fix=True)
    assert [finding.id for finding in findings.fixed] == ["optimizer-state-dtype"]
    assert stepped(optimizer)
    assert "optimizer-state-dtype" not in look(model, None, optimizer)


@pytest.mark.parametrize("name", ["AdamW", "AdamW8bit", "Lion"])
def test_float32_and_8bit_states_of_bitsandbytes_are_meant(look, name: str) -> None:
    import bitsandbytes as bnb

    model = model_of("bfloat16")
    optimizer = getattr(bnb.optim, name)(model.parameters(), lr=1e-2)
    try:
        stepped(optimizer)
    except Exception as error:
        pytest.skip(f"this bitsandbytes does not step on a CPU: {error}")
    assert "optimizer-state-dtype" not in look(model, None, optimizer)


def test_fresh_optimizers_have_no_states(look) -> None:
    import torch

    model = model_of("float32")
    assert not look(model, None, torch.optim.AdamW(model.parameters(), lr=1e-2)).ids


def test_of_a_trainer_behind_the_wrapper_of_accelerate(make) -> None:
    with make.trainer(make.model("float32"), "bf16") as trainer:
        trainer.train()
        assert "optimizer-state-dtype" not in patchkit.preflight(trainer)
        trainer.model.bfloat16()
        assert "optimizer-state-dtype" in patchkit.preflight(trainer)

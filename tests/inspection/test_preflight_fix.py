"""`fix=True` does what it says, and what is left is told again."""

from __future__ import annotations

import pytest

import patchkit
from patchkit.inspection import repairs


def dtypes(model) -> set[str]:
    return {str(parameter.dtype)[6:] for parameter in model.parameters() if parameter.requires_grad}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_trainable_under_a_scaler(make, dtype: str) -> None:
    with make.trainer(make.model(dtype), "fp16") as trainer:
        same = [id(parameter) for parameter in trainer.model.parameters()]
        findings = patchkit.preflight(trainer, fix=True)
        assert "half-trainable-under-scaler" in [finding.id for finding in findings.fixed]
        assert "21 parameters float32" in findings["half-trainable-under-scaler"].fixed
        assert "MiB more memory" in findings["half-trainable-under-scaler"].fixed
        assert findings.ok
        assert [id(parameter) for parameter in trainer.model.parameters()] == same
        trainer.train()
        assert dtypes(trainer.model) == {"float32"}


def test_not_once_the_optimizer_has_state(make) -> None:
    with make.trainer(make.model("float32"), "fp16") as trainer:
        trainer.train()
        trainer.model.half()
        findings = patchkit.preflight(trainer, fix=True)
        (error,) = [
            finding for finding in findings.errors if finding.id == "half-trainable-under-scaler"
        ]
        assert not error.fixable
        assert dtypes(trainer.model) == {"float16"}


def test_one_dtype_through_a_4bit_model(make, look) -> None:
    import torch

    model, args = make.lora("bfloat16", "4bit"), make.args("fp16")
    before = look(model, args)
    assert set(before.ids) == {"compute-dtype-other", "bfloat16-model-in-float16-training"}
    assert all(finding.fixable for finding in before)
    findings = look(model, args, fix=True)
    assert {finding.id for finding in findings.fixed} == set(before.ids)
    assert not findings.warnings
    assert "thread_dtype(model, torch.float16)" in findings["compute-dtype-other"].fixed
    assert not look(model, args).ids
    layer = model.base_model.model.model.layers[0].mlp.up_proj
    assert layer.compute_dtype == layer.weight.quant_state.dtype == torch.float16
    assert dtypes(model) == {"float32"}
    ids = torch.arange(4, 8)[None]
    with torch.autocast("cpu", torch.float16):
        assert model(input_ids=ids).logits.isfinite().all()


def test_a_compute_dtype_that_was_asked_for_is_left(make, look) -> None:
    """`make` loads with an explicit compute dtype, which is known where the patch is applied."""
    import torch

    with patchkit.patched("transformers-prequantized-dtype", strict=True):
        model, args = make.lora("bfloat16", "4bit"), make.args("fp16")
        findings = look(model, args, fix=True)
        assert not findings.fixed
        assert "compute-dtype-other" in findings
        assert model.base_model.model.model.layers[0].mlp.up_proj.compute_dtype == torch.bfloat16
        with patchkit.patched("transformers-prequantized-dtype", dtype="float16"):
            assert look(model, args, fix=True).fixed


def test_what_only_the_user_can_decide_is_left(make, look) -> None:
    model = make.model("bfloat16")
    findings = look(model, make.args("bf16", learning_rate=1e-6), fix=True)
    assert [finding.id for finding in findings.warnings] == ["updates-round-away"]
    assert not findings.fixed
    assert dtypes(model) == {"bfloat16"}


def test_adapters_are_upcast(make, look) -> None:
    import torch

    model = make.lora("bfloat16")
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.to(torch.bfloat16)
            parameter.grad = torch.ones_like(parameter)
    findings = look(model, make.args("bf16", learning_rate=1e-6), fix=True)
    assert [finding.id for finding in findings.fixed] == ["updates-round-away"]
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    assert (
        {parameter.dtype for parameter in trained}
        == {parameter.grad.dtype for parameter in trained}
        == {torch.float32}
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_norm_is_upcast_with_its_statistics(make, look, dtype: str) -> None:
    import torch

    model = torch.nn.Sequential(
        torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1)
    )
    model.to(getattr(torch, dtype))
    findings = look(model, make.args("fp16"), fix=True)
    assert [finding.id for finding in findings.fixed] == ["half-trainable-under-scaler"]
    model(torch.ones(2, 4)).sum().backward()
    assert model.eval()(torch.ones(2, 4)).isfinite().all()


def test_a_repair_that_fails_is_told(make, look, monkeypatch) -> None:
    def refuse(model: object, dtype: object) -> None:
        raise ValueError("not this model")

    monkeypatch.setattr(repairs, "thread_dtype", refuse)
    findings = look(make.lora("bfloat16", "4bit"), make.args("fp16"), fix=True)
    assert not findings.fixed
    for finding in findings.warnings:
        assert "could not fix it: ValueError: not this model" in finding.why
        assert not finding.fixable


def test_nothing_to_fix(make, look) -> None:
    findings = look(make.lora("bfloat16"), make.args("bf16"), fix=True)
    assert not findings.ids


@pytest.mark.parametrize("imported", [True, False])
def test_versions(before_libraries, imported: bool) -> None:
    """Only bugs of modules that are loaded; applying their patches is what fixes them."""
    found = before_libraries(
        f"""
        import patchkit, sys
        import torch
        if {imported}:
            import accelerate
        model = torch.nn.Linear(2, 2)
        before = patchkit.preflight(model)
        after = patchkit.preflight(model, fix=True)
        result = [
            [finding.found for finding in before if finding.id == "unfixed-bugs"],
            [finding.fixed for finding in after if finding.id == "unfixed-bugs"],
            [record.id for record in patchkit.report().with_status("applied")],
            [finding.id for finding in patchkit.preflight(model)],
        ]
        """
    )
    if not imported:
        assert found == [[], [], [], []]
        return
    (text,), (fixed,), applied, left = found
    assert "accelerate-gradscaler-guard" in text
    assert "accelerate-gradscaler-guard" in fixed
    assert "accelerate-gradscaler-guard" in applied
    assert "trl-" not in text
    assert left == []


def test_a_patch_that_was_left_out_was_left_out_on_purpose(before_libraries) -> None:
    ids = before_libraries(
        """
        import accelerate, patchkit, torch
        patchkit.apply(exclude="accelerate-gradscaler-guard")
        result = patchkit.preflight(torch.nn.Linear(2, 2)).ids
        """
    )
    assert ids == []

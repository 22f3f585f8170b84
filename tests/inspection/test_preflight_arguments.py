"""Findings about the training arguments, each with the cases that come near it."""

from __future__ import annotations

from typing import Any

import pytest

import patchkit
from patchkit.inspection.findings import Severity
from patchkit.inspection.hardware import Hardware, probe

CPU = Hardware("cpu")
A100 = Hardware("cuda", "NVIDIA A100", (8, 0))
T4 = Hardware("cuda", "Tesla T4", (7, 5), bfloat16=False)


def changed(args: Any, **values: Any) -> Any:
    """Arguments refuse some values when they are made, but not afterwards."""
    for name, value in values.items():
        setattr(args, name, value)
    return args


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"fp16": True, "bf16": True}, True),
        ({"fp16_full_eval": True, "bf16_full_eval": True}, True),
        ({"fp16": True, "bf16": False}, False),
        ({"fp16": True, "bf16_full_eval": True}, False),
        ({}, False),
    ],
)
def test_both_precisions(make, look, values: dict[str, bool], expected: bool) -> None:
    findings = look(args=changed(make.args(), **values))
    assert ("both-fp16-and-bf16" in findings) is expected
    if expected:
        (error,) = findings.errors
        assert all(f"{name}=True" in error.found for name in values)
        assert not error.fixable


@pytest.mark.parametrize(
    ("precision", "hardware", "expected"),
    [("fp16", CPU, True), ("fp16", A100, False), ("bf16", CPU, False), ("", CPU, False)],
)
def test_fp16_on_cpu(make, look, precision: str, hardware: Hardware, expected: bool) -> None:
    findings = look(make.model("float32"), make.args(precision), hardware=hardware)
    assert findings.ids == (["fp16-on-cpu"] if expected else [])
    if expected:
        assert findings[0].severity is Severity.WARNING
        assert "float32" in findings[0].why


def test_fp16_on_cpu_is_asked_of_the_accelerator(make) -> None:
    """The lab gives its Accelerator autocast and a scaler on a CPU: nothing is ignored there."""
    with make.trainer(make.model("float32"), "fp16") as trainer:
        assert "fp16-on-cpu" not in patchkit.preflight(trainer)
        trainer.accelerator.scaler, trainer.accelerator.native_amp = None, False
        assert "fp16-on-cpu" in patchkit.preflight(trainer)


@pytest.mark.parametrize(
    ("model", "precision", "hardware", "expected"),
    [
        (None, "bf16", T4, "bf16 mixed precision is on"),
        (("bfloat16", "4bit"), "fp16", T4, "4-bit layers compute in bfloat16"),
        (("bfloat16", "none"), "", T4, "parameters are bfloat16"),
        (("bfloat16", "none"), "", A100, None),
        (None, "bf16", A100, None),
        (None, "bf16", CPU, None),
        (None, "bf16", Hardware("cuda", "AMD Instinct MI300X"), None),
        (("float16", "4bit"), "fp16", T4, None),
        (("float32", "none"), "", T4, None),
    ],
)
def test_bf16_unsupported(make, look, model, precision, hardware, expected) -> None:
    findings = look(model and make.model(*model), make.args(precision), hardware=hardware)
    if expected is None:
        assert "bf16-unsupported" not in findings
    else:
        error = findings["bf16-unsupported"]
        assert error.severity is Severity.ERROR
        assert expected in error.found
        assert "Tesla T4, capability 7.5" in error.found


def test_probing_a_cpu() -> None:
    import torch

    assert probe(torch.device("cpu")) == CPU
    assert str(CPU) == "cpu"


@pytest.mark.parametrize(
    ("dtype", "values", "expected"),
    [
        ("float32", {"bf16_full_eval": True}, True),
        ("float32", {"fp16_full_eval": True}, True),
        ("bfloat16", {"bf16_full_eval": True}, False),
        ("float32", {}, False),
    ],
)
def test_full_eval_casts(make, look, dtype: str, values: dict[str, bool], expected: bool) -> None:
    findings = look(make.model(dtype), make.args("bf16", **values))
    assert ("full-eval-casts" in findings) is expected


def test_full_eval_does_what_the_finding_says(make) -> None:
    with make.trainer(make.model("float32"), "bf16", bf16_full_eval=True) as trainer:
        assert "full-eval-casts" in patchkit.preflight(trainer)
        trainer.evaluate(trainer.train_dataset)
        assert {str(parameter.dtype) for parameter in trainer.model.parameters()} == {
            "torch.bfloat16"
        }


@pytest.mark.parametrize(
    ("dtype", "precision", "expected"),
    [
        ("float16", "bf16", True),
        ("float32", "bf16", True),
        ("bfloat16", "bf16", False),
        (None, "bf16", False),
        ("float16", "", False),
    ],
)
def test_precision_asked_of_apply(make, look, dtype, precision: str, expected: bool) -> None:
    with patchkit.patched(only="trl-*", dtype=dtype):
        assert ("precision-disagrees" in look(args=make.args(precision))) is expected


def test_arguments_changed_after_the_trainer_was_made(make) -> None:
    with make.trainer(make.model("float32"), "bf16") as trainer:
        assert "precision-disagrees" not in patchkit.preflight(trainer)
        changed(trainer.args, bf16=False, fp16=True)
        warning = patchkit.preflight(trainer)["precision-disagrees"]
        assert "arguments: float16, the Accelerator: bfloat16" in warning.found
        assert "fp16=True, bf16=False" in warning.change


@pytest.mark.parametrize(("precision", "expected"), [("", True), ("bf16", False)])
def test_precision_from_the_launcher(make, monkeypatch, precision: str, expected: bool) -> None:
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "bf16")
    with make.trainer(make.model("float32"), precision) as trainer:
        findings = patchkit.preflight(trainer)
    assert trainer.accelerator.mixed_precision == "bf16"
    assert ("precision-from-elsewhere" in findings) is expected
    assert "precision-disagrees" not in findings


def test_advice_for_a_loop_of_ones_own_names_what_is_there(make, look) -> None:
    from accelerate import Accelerator

    model = make.model("bfloat16")
    alone = look(model, hardware=T4)["bf16-unsupported"].change
    assert 'torch.autocast("cuda", torch.float16)' in alone
    assert "GradScaler" in alone
    prepared = look(model, Accelerator(mixed_precision="bf16", cpu=True), hardware=T4)
    assert 'Accelerator(mixed_precision="fp16")' in prepared["bf16-unsupported"].change
    given = look(model, make.args("bf16"), hardware=T4)
    assert "TrainingArguments(…, fp16=True, bf16=False)" in given["bf16-unsupported"].change
    assert "TrainingArguments" not in alone + prepared["bf16-unsupported"].change


def test_advice_for_an_accelerator_without_arguments(make, look) -> None:
    from accelerate import Accelerator

    accelerator = Accelerator(mixed_precision="fp16", cpu=True)
    findings = look(make.lora("bfloat16"), accelerator, hardware=CPU)
    assert "fp16-on-cpu" in findings
    assert "bfloat16-model-in-float16-training" in findings
    assert "TrainingArguments" not in str(findings)
    assert 'Accelerator(mixed_precision="bf16")' in findings["fp16-on-cpu"].change

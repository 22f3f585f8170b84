"""`apply(preflight=True)`: each `Trainer.train()` is looked at before it starts, and no other."""

from __future__ import annotations

import logging
import warnings

import pytest

import patchkit
from patchkit import PreflightError, UsageError
from patchkit.inspection import preflight
from patchkit.patch import Status

ID = "transformers-preflight"


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch) -> None:
    monkeypatch.setattr(preflight, "_logged", set())


def code_of_train():
    import transformers

    return vars(transformers.Trainer)["train"].__code__


def test_off_unless_asked_for(make) -> None:
    before = code_of_train()
    for options in ({}, {"only": "transformers-*"}, {"only": "*"}, {"preflight": False}):
        report = patchkit.apply(**options)
        assert report[ID].status is Status.AVAILABLE
        assert report[ID].reason == "due here; patchkit.apply(preflight=True) applies it"
        assert code_of_train() is before
        patchkit.revert()


@pytest.mark.parametrize(
    "options",
    [{"preflight": True}, {"only": ID}, {"only": "trl-*", "preflight": True, "strict": True}],
)
def test_on_when_asked_for(options) -> None:
    before = code_of_train()
    report = patchkit.apply(**options)
    assert report[ID].status is Status.APPLIED
    assert ID in report.changed
    assert code_of_train() is not before
    assert patchkit.apply().changed == () or options.get("only")
    assert patchkit.report()[ID].status is Status.APPLIED
    assert (
        "is wrapped by patchkit.inspection.preflight.before_train" in patchkit.report()[ID].diff()
    )
    patchkit.revert(ID)
    assert code_of_train() is before
    assert patchkit.report()[ID].status is Status.AVAILABLE


def test_for_the_length_of_a_block() -> None:
    before = code_of_train()
    with patchkit.patched(preflight=True) as report:
        assert report[ID].status is Status.APPLIED
        assert code_of_train() is not before
    assert code_of_train() is before


@pytest.mark.parametrize("value", ["1", "true", "ON"])
def test_by_variable(monkeypatch, value: str) -> None:
    monkeypatch.setenv("PATCHKIT_PREFLIGHT", value)
    assert patchkit.apply()[ID].status is Status.APPLIED


def test_switched_off_from_outside(monkeypatch) -> None:
    monkeypatch.setenv("PATCHKIT_DISABLE", ID)
    report = patchkit.apply(preflight=True)
    assert report[ID].status is Status.DISABLED
    assert "PATCHKIT_DISABLE" in report[ID].reason


def test_bad_requests(monkeypatch) -> None:
    with pytest.raises(UsageError, match="preflight= must be True or False, not 'yes'"):
        patchkit.apply(preflight="yes")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=f"contradict each other: exclude= names {ID}"):
        patchkit.apply(exclude="transformers-*", preflight=True)
    monkeypatch.setenv("PATCHKIT_PREFLIGHT", "perhaps")
    with pytest.raises(UsageError, match="PATCHKIT_PREFLIGHT must be 1 or 0, not 'perhaps'"):
        patchkit.apply()
    assert patchkit.report()[ID].status is Status.AVAILABLE


def test_a_doomed_training_is_stopped_before_it_starts(make) -> None:
    patchkit.apply(only=ID)
    with make.trainer(make.model("float16"), "fp16") as trainer:
        with pytest.raises(PreflightError) as stopped:
            trainer.train()
        assert trainer.optimizer is None
        assert not trainer.is_in_train
    assert stopped.value.findings.errors[0].id == "half-trainable-under-scaler"
    text = str(stopped.value)
    assert "Attempting to unscale FP16 gradients" in text
    assert "from_pretrained(…, dtype=torch.float32)" in text


def test_what_another_patch_fixes_is_not_stopped(make) -> None:
    patchkit.apply(preflight=True)
    with make.trainer(make.model("float16"), "fp16") as trainer:
        trainer.train()
        assert trainer.state.global_step == 1


def test_warnings_are_logged_once(make, caplog) -> None:
    patchkit.apply(only=ID)
    for _ in range(2):
        with make.trainer(make.model("bfloat16"), "bf16", learning_rate=1e-6) as trainer:
            trainer.train()
            assert trainer.state.global_step == 1
    logged = [record.getMessage() for record in caplog.records if record.name == "patchkit"]
    assert sum("updates-round-away" in message for message in logged) == 1


def test_a_healthy_training_says_nothing(make, caplog) -> None:
    patchkit.apply(preflight=True)
    caplog.clear()
    with caplog.at_level(logging.WARNING, "patchkit"), warnings.catch_warnings():
        warnings.simplefilter("error", patchkit.PatchWarning)
        with make.trainer(make.model("float32"), "bf16") as trainer:
            trainer.train()
    assert not [record for record in caplog.records if record.name == "patchkit"]


def test_a_mistake_of_ours_does_not_stop_a_training(make, monkeypatch, caplog) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(preflight, "run", fail)
    patchkit.apply(only=ID)
    with make.trainer(make.model("float32"), "bf16") as trainer:
        trainer.train()
        assert trainer.state.global_step == 1
    assert "the preflight failed, and training goes on without it" in caplog.text


def test_trl_is_covered(make) -> None:
    """Its trainers have the method from Transformers."""
    import trl

    patchkit.apply(only=ID)
    assert vars(trl.SFTTrainer).get("train") is None
    assert trl.SFTTrainer.train.__code__ is code_of_train()
    assert [record.id for record in patchkit.report().with_status("applied")] == [ID]

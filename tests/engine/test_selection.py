"""Which patches a call is for."""

from __future__ import annotations

import pytest

from patchkit import UnknownPatchError, UsageError
from patchkit.patch import Rewrite, Status

from ..madeup_bug import patch
from .conftest import OTHER_BUG


def test_selection(trainer, session, apply) -> None:
    trainer()
    one = session(patch("trl-a"), patch("trl-b", Rewrite("madeup.trainer:Trainer.step", OTHER_BUG)))
    report = apply(one, only="trl-a")
    assert str(report["trl-a"].status) == "applied"
    assert (str(report["trl-b"].status), report["trl-b"].reason) == (
        "disabled",
        "left out by only=",
    )
    one.revert(None)
    report = apply(one, exclude=["trl-*"])
    assert {str(r.status) for r in report} == {"disabled"}


@pytest.mark.parametrize(
    ("only", "exclude", "error", "message"),
    [
        ("trl-adaptr", None, UnknownPatchError, "Did you mean 'trl-adapter'?"),
        (["trl-adapter", "xyz-*"], None, UnknownPatchError, "only= names no patch: 'xyz-*'"),
        (None, "trl-adaptor", UnknownPatchError, "exclude= names no patch"),
        (7, None, UsageError, "only= takes a patch id, a glob"),
        ([7], None, UsageError, "only= takes patch ids and globs, not 7"),
        ("trl-adapter", "trl-*", UsageError, "contradict each other"),
    ],
)
def test_bad_selection(trainer, session, apply, only, exclude, error, message: str) -> None:
    code = trainer().__init__.__code__
    with pytest.raises(error, match=message.replace("*", r"\*").replace("?", r"\?")):
        apply(session(patch("trl-adapter")), only, exclude)
    assert trainer().__init__.__code__ is code


@pytest.mark.parametrize("value", ["madeup-bug", "x-y, madeup-*", "all"])
def test_disabled_from_outside(trainer, session, apply, monkeypatch, value: str) -> None:
    monkeypatch.setenv("PATCHKIT_DISABLE", value)
    trainer()
    report = apply(session(patch(), patch("x-y")))
    assert report["madeup-bug"].status == Status.DISABLED
    assert report["madeup-bug"].reason == "switched off by PATCHKIT_DISABLE"


def test_typing_error_in_the_variable(session, apply, monkeypatch) -> None:
    monkeypatch.setenv("PATCHKIT_DISABLE", "madeup-bgu")
    with pytest.raises(UnknownPatchError, match="variable PATCHKIT_DISABLE names no patch"):
        apply(session(patch()))


def test_a_report_knows_what_the_environment_will_switch_off(
    trainer, session, apply, monkeypatch
) -> None:
    one = session(patch())
    for value, status in [
        ("madeup-bug", "disabled"),
        ("", "available"),
        ("madeup-bgu", "available"),
    ]:
        monkeypatch.setenv("PATCHKIT_DISABLE", value)
        assert str(one.report()["madeup-bug"].status) == status
    monkeypatch.delenv("PATCHKIT_DISABLE")
    trainer()
    apply(one)
    monkeypatch.setenv("PATCHKIT_DISABLE", "all")
    assert str(one.report()["madeup-bug"].status) == "applied"

"""`strict=True` raises, and a call that raises changes nothing."""

from __future__ import annotations

import pytest

from patchkit import PatchError, UsageError, settings
from patchkit.engine.armed import ArmedPatch
from patchkit.patch import Rewrite, Status

from ..madeup_bug import BUG, SOURCE, patch


def test_strict_raises_once_for_all_and_undoes_the_call(library, session, apply) -> None:
    library.write("trainer", SOURCE)
    cls = library.load("trainer").Trainer
    code = cls.__init__.__code__
    one = session(
        patch("good-one"),
        patch("bad-one", Rewrite("madeup.trainer:Trainer.gone", BUG)),
        patch("worse-one", Rewrite("madeup.gone:f", BUG)),
    )
    with pytest.raises(PatchError, match=r"(?s)bad-one drifted.*worse-one drifted"):
        apply(one, strict=True)
    assert cls.__init__.__code__ is code
    assert {r.status for r in one.report()} == {Status.AVAILABLE}


def test_strict_raises_from_a_later_import(library, session, apply) -> None:
    library.write("trainer", SOURCE.replace("= bug()", "= 1"))
    apply(session(patch()), strict=True)
    with pytest.raises(PatchError, match="madeup-bug drifted"):
        library.load("trainer")
    library.write("trainer", SOURCE)


def test_a_failed_strict_call_leaves_the_report_as_it_was(trainer, session, apply) -> None:
    trainer()
    one = session(patch("a-a"), patch("b-b", Rewrite("madeup.gone:f", BUG)))
    with pytest.raises(PatchError):
        apply(one, only="b-b", strict=True)
    assert {str(r.status) for r in one.report()} == {"available"}


def test_strict_must_be_a_bool(session, apply) -> None:
    with pytest.raises(UsageError, match="strict= must be True or False, not 'yes'"):
        apply(session(patch()), strict="yes")


def test_an_error_of_our_own_leaves_nothing_half_applied(trainer, session, apply, monkeypatch):
    cls = trainer()
    code = cls.__init__.__code__
    one = session(patch("a-a"), patch("b-b"))

    def fails(self, places):
        if self.id == "b-b":
            raise ZeroDivisionError
        return fix(self, places)

    fix = ArmedPatch.fix_loaded
    monkeypatch.setattr(ArmedPatch, "fix_loaded", fails)
    with pytest.raises(ZeroDivisionError):
        apply(one, dtype="fp16")
    assert cls.__init__.__code__ is code
    assert {str(r.status) for r in one.report()} == {"available"}
    assert settings.requested_dtype() is None

"""`apply`, `revert` and `report` on a made-up library, before and after its import."""

from __future__ import annotations

import logging
import sys
from types import FunctionType

from patchkit.patch import Rewrite, Status, Wrap

from ..madeup_bug import BUG, SOURCE, TARGET, patch
from .conftest import double


def test_before_the_import(trainer, session, apply) -> None:
    one = session(patch())
    report = apply(one)
    assert report["madeup-bug"].status == Status.PENDING
    assert "madeup" not in sys.modules
    assert trainer()().value == "fixed"
    assert one.report()["madeup-bug"].status == Status.APPLIED


def test_after_the_import(trainer, session, apply) -> None:
    earlier = trainer()
    report = apply(session(patch()))
    assert report["madeup-bug"].status == Status.APPLIED
    assert report["madeup-bug"].targets[0].target == TARGET
    assert earlier().value == "fixed"


def test_apply_then_revert_is_the_identity(trainer, session, apply) -> None:
    cls = trainer()
    before = dict(vars(cls))
    codes = {name: f.__code__ for name, f in before.items() if isinstance(f, FunctionType)}
    one = session(patch("a-a"), patch("b-b", Wrap("madeup.trainer:Trainer.step", double)))
    apply(one)
    assert cls().step(2) == 4
    assert one.revert(None).changed == ("a-a", "b-b")
    assert dict(vars(cls)) == before
    assert all(vars(cls)[name] is value for name, value in before.items())
    assert all(vars(cls)[name].__code__ is code for name, code in codes.items())
    assert cls().value == "bug"
    assert {r.status for r in one.report()} == {Status.AVAILABLE}


def test_revert_before_the_import(trainer, session, apply) -> None:
    one = session(patch())
    apply(one)
    one.revert(None)
    assert trainer()().value == "bug"
    apply(one)
    assert trainer()().value == "fixed"


def test_second_call_changes_nothing_and_says_so(trainer, session, apply, caplog) -> None:
    cls = trainer()
    one = session(patch())
    assert apply(one).changed == ("madeup-bug",)
    code = cls.__init__.__code__
    with caplog.at_level(logging.INFO, "patchkit"):
        assert apply(one).changed == ()
    assert cls.__init__.__code__ is code
    assert "nothing new to do" in caplog.text


def test_wildcards_find_what_nobody_listed(library, session, apply) -> None:
    library.write("new_trainer", SOURCE)
    library.write("deep.er_trainer", SOURCE.replace("Trainer", "DeeperTrainer"))
    library.write("clean_trainer", SOURCE.replace("= bug()", "= 1"))
    one = session(patch("madeup-bug", Rewrite("madeup.*_trainer:*Trainer.__init__", BUG)))
    report = apply(one)
    assert report["madeup-bug"].status == Status.PENDING
    assert library.load("new_trainer").Trainer().value == "fixed"
    assert library.load("deep.er_trainer").DeeperTrainer().value == "fixed"
    clean = library.load("clean_trainer").Trainer
    assert clean.__init__.__code__.co_filename.endswith("clean_trainer.py")
    assert sorted(t.target for t in one.report()["madeup-bug"].targets) == [
        "madeup.deep.er_trainer:DeeperTrainer.__init__",
        "madeup.new_trainer:Trainer.__init__",
    ]


def test_applied_names_what_holds_now(trainer, session, apply) -> None:
    one = session(patch())
    assert one.applied() == frozenset()
    apply(one)
    assert one.applied() == frozenset()  # pending
    cls = trainer()
    assert one.applied() == {"madeup-bug"}
    cls.__init__ = lambda self: None
    assert one.applied() == frozenset()

"""What someone else replaced, or put around a target, since."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from patchkit import PatchWarning
from patchkit.patch import Status, Wrap

from ..madeup_bug import SOURCE, patch
from .conftest import double


def test_overridden_by_another_function(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch())
    apply(one)
    cls.__init__ = foreign = lambda self: None
    assert one.report()["madeup-bug"].status == Status.OVERRIDDEN
    with pytest.warns(PatchWarning, match="overridden"):
        apply(one)
    one.revert(None)
    assert cls.__init__ is foreign


def test_overridden_code(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch())
    apply(one)
    cls.__init__.__code__ = foreign = (lambda self: None).__code__
    assert one.report()["madeup-bug"].status == Status.OVERRIDDEN
    one.revert(None)
    assert cls.__init__.__code__ is foreign


def test_a_reloaded_module_is_fixed_by_its_import(library, session, apply) -> None:
    library.write("trainer", SOURCE)
    module = library.load("trainer")
    earlier = module.Trainer
    one = session(patch())
    apply(one)
    importlib.reload(module)
    assert one.report()["madeup-bug"].status == Status.APPLIED
    assert apply(one).changed == ()
    assert (earlier().value, module.Trainer().value) == ("fixed", "fixed")
    one.revert(None)
    assert (earlier().value, module.Trainer().value) == ("bug", "bug")


def test_a_module_executed_again_past_the_import_system(library, session, apply) -> None:
    library.write("trainer", SOURCE)
    module = library.load("trainer")
    one = session(patch())
    apply(one)
    exec(compile(SOURCE, module.__file__, "exec"), vars(module))
    assert one.report()["madeup-bug"].status == Status.OVERRIDDEN
    assert apply(one).changed == ("madeup-bug",)
    assert module.Trainer().value == "fixed"
    one.revert(None)
    assert module.Trainer().value == "bug"


def test_wrap_below_another_wrapper_is_switched_off(trainer, session, apply) -> None:
    cls = trainer()
    original = cls.step
    one = session(patch("madeup-bug", Wrap("madeup.trainer:Trainer.step", double)))
    apply(one)
    ours = cls.step

    def theirs(self: Any, *args: Any) -> Any:
        return ours(self, *args)

    theirs.__wrapped__ = vars(cls)["step"]
    cls.step = theirs
    assert one.report()["madeup-bug"].status == Status.APPLIED
    assert cls().step(3) == 6
    one.revert(None)
    assert cls().step(3) == 3
    cls.step = original

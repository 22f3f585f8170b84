"""A tool makes a copy of a rewritten function's text, edits it, and puts it in the place of it."""

from __future__ import annotations

import inspect
import sys
import textwrap
import types

import pytest

from patchkit import PatchWarning
from patchkit.patch import Rewrite, Status, Wrap
from patchkit.rewrite import Pattern, Rule, helper, replace

from ..installed import distribution
from ..madeup_bug import patch
from .conftest import double

CALLS_HELPER = Rule(
    Pattern("bug()"), lambda node: [replace(node, helper("madeup_helpers:fixed") + "()")]
)
COPIER = "axototl.monkeypatch.trainer"
TARGET = "madeup.trainer:Trainer.__init__"


@pytest.fixture(autouse=True)
def helpers(monkeypatch) -> None:
    module = types.ModuleType("madeup_helpers")
    module.fixed = lambda: "fixed"
    monkeypatch.setitem(sys.modules, "madeup_helpers", module)
    monkeypatch.setitem(sys.modules, COPIER, None)


def copied(function, old: str, new: str, package: str = COPIER):
    """Do as axolotl does: text, replacement, a name of its own, `exec` in a module of its own."""
    text = textwrap.dedent(inspect.getsource(function))
    assert old in text
    text = text.replace(old, new).replace(f"def {function.__name__}(", "def theirs(")
    module = types.ModuleType(package)
    sys.modules[package] = module
    # Axolotl imports whatever the text mentions, `__name__` included.
    vars(module).update(function.__globals__)
    exec(text, vars(module))
    return module.theirs


@pytest.fixture
def replaced(trainer, session, apply):
    """The class, a session, and the patch's record when the copy is there."""
    cls = trainer()
    made = session(patch("madeup-bug", Rewrite(TARGET, CALLS_HELPER)))
    apply(made)
    cls.__init__ = copied(cls.__init__, "self.after = 2", "self.after = 3")
    return cls, made


@pytest.mark.filterwarnings("ignore::patchkit.PatchWarning")  # of the revert at the end
def test_it_is_applied_in_the_copy(replaced, apply) -> None:
    cls, made = replaced
    assert (cls().value, cls().after) == ("fixed", 3)
    record = made.report()["madeup-bug"]
    assert record.status is Status.APPLIED
    assert record.reason == "fixed Trainer.__init__ (in a copy that axototl made)"
    assert [target.reason for target in record.targets] == ["in a copy that axototl made"]
    assert apply(made)["madeup-bug"].status is Status.APPLIED
    assert apply(made, strict=True).changed == ()


def test_revert_says_what_it_cannot_undo(replaced, apply) -> None:
    cls, made = replaced
    with pytest.warns(PatchWarning, match=r"copy that axototl made.*revert\(\) cannot undo it"):
        report = made.revert(None)
    record = report["madeup-bug"]
    assert record.status is Status.AVAILABLE
    assert "Trainer.__init__ is a copy that axototl made, and keeps the change" in record.reason
    assert cls().value == "fixed"
    with pytest.warns(PatchWarning, match="keeps the change"):
        assert apply(made)["madeup-bug"].status is Status.DRIFTED
    made.revert(None)
    cls.__init__ = lambda self: None
    assert "copy" not in made.report()["madeup-bug"].reason


def test_a_copy_without_the_change_is_none(trainer, session, apply) -> None:
    cls = trainer()
    before = copied(cls.__init__, "self.after = 2", "self.after = 3")
    made = session(patch("madeup-bug", Rewrite(TARGET, CALLS_HELPER)))
    apply(made)
    cls.__init__ = before
    assert made.report()["madeup-bug"].status is Status.OVERRIDDEN
    made.revert(None)


def test_another_function_that_calls_the_helper_is_none(trainer, session, apply) -> None:
    cls = trainer()
    made = session(patch("madeup-bug", Rewrite(TARGET, CALLS_HELPER)))
    apply(made)

    def theirs(self) -> None:
        __import__("madeup_helpers", fromlist=("fixed",)).fixed()

    cls.__init__ = theirs
    assert made.report()["madeup-bug"].status is Status.OVERRIDDEN
    made.revert(None)


def test_a_wrapper_is_not_in_a_copy_of_the_text(trainer, session, apply) -> None:
    cls = trainer()
    wrap = Wrap("madeup.trainer:Trainer.step", double)
    made = session(patch("madeup-bug", wrap))
    apply(made)
    cls.step = copied(cls.step, "return size", "return size + 0")
    assert cls().step(3) == 3
    assert made.report()["madeup-bug"].status is Status.OVERRIDDEN
    made.revert(None)


def test_the_distribution_of_the_copy_is_named(library, trainer, session, apply) -> None:
    distribution(library.folder, "axo-other", "1", **{"top_level.txt": "axototl\n"})
    cls = trainer()
    made = session(patch("madeup-bug", Rewrite(TARGET, CALLS_HELPER)))
    apply(made)
    cls.__init__ = copied(cls.__init__, "self.after = 2", "self.after = 3")
    assert "copy that axo-other made" in made.report()["madeup-bug"].reason
    with pytest.warns(PatchWarning):
        made.revert(None)


@pytest.mark.parametrize(("module", "maker"), [(COPIER, "axototl"), (None, "someone")])
def test_a_copy_with_the_globals_of_its_target(
    trainer, session, apply, module: str | None, maker: str
) -> None:
    cls = trainer()
    made = session(patch("madeup-bug", Rewrite(TARGET, CALLS_HELPER)))
    apply(made)
    before = cls.__init__
    cls.__init__ = types.FunctionType(before.__code__, before.__globals__)
    if module is not None:
        cls.__init__.__module__ = module
    record = made.report()["madeup-bug"]
    assert record.reason == f"fixed Trainer.__init__ (in a copy that {maker} made)"
    with pytest.warns(PatchWarning, match=f"copy that {maker} made"):
        made.revert(None)

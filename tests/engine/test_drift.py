"""A target that does not look as expected is left alone."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import Any

import pytest

from patchkit import PatchWarning
from patchkit.patch import Rewrite, Status, Wrap
from patchkit.rewrite import Pattern, Rule

from ..madeup_bug import BUG, SOURCE, TARGET, patch
from .conftest import double

DRIFTED = {
    "no site": (
        SOURCE.replace("= bug()", "= 1"),
        "expected 1 occurrence of the buggy code in Trainer.__init__, found 0",
    ),
    "two sites": (
        SOURCE.replace("= bug()", "= bug(), bug()"),
        "expected 1 occurrence of the buggy code in Trainer.__init__, found 2",
    ),
    "renamed method": (SOURCE.replace("__init__", "setup"), "Trainer inherits __init__"),
    "renamed class": (SOURCE.replace("Trainer", "Coach"), "Trainer is missing"),
    "inherited": ("class Base:\n    pass\nclass Trainer(Base):\n    pass\n", "inherits __init__"),
}


@pytest.mark.parametrize("case", DRIFTED)
@pytest.mark.parametrize("imported", [True, False])
def test_drift_leaves_the_target_alone(library, session, apply, case: str, imported: bool) -> None:
    source, reason = DRIFTED[case]
    library.write("trainer", source)
    if imported:
        library.load("trainer")
    one = session(patch())
    with pytest.warns(PatchWarning, match="madeup-bug drifted") as caught:
        apply(one)
        module = library.load("trainer")
    assert caught[0].filename.endswith("conftest.py")
    record = one.report()["madeup-bug"]
    assert record.status == Status.DRIFTED
    assert reason in record.reason
    cls = getattr(module, "Trainer", None)
    if cls is not None and "__init__" in vars(cls):
        assert cls.__init__.__code__.co_filename.endswith("trainer.py")


def test_drift_warns_once(library, session, apply) -> None:
    library.write("trainer", DRIFTED["no site"][0])
    library.load("trainer")
    one = session(patch())
    with pytest.warns(PatchWarning):
        apply(one)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apply(one)


def test_missing_module_is_found_without_an_import(library, session, apply) -> None:
    one = session(patch("madeup-bug", Rewrite("madeup.gone:f", BUG)))
    assert "madeup 1.2.0 has no module madeup.gone" in apply(one)["madeup-bug"].reason
    assert "madeup" not in sys.modules
    with pytest.warns(PatchWarning, match=r"madeup 1\.2\.0 has no module madeup\.gone"):
        import_module("madeup")


def test_a_package_that_does_not_exist_is_drift(library, session, apply) -> None:
    one = session(patch("madeup-bug", Rewrite("maedup.trainer:f", BUG)))
    report = apply(one)
    assert report["madeup-bug"].status is Status.DRIFTED
    assert report["madeup-bug"].reason == "madeup 1.2.0 has no module maedup.trainer"


def test_wrap_of_another_signature_is_drift(trainer, session, apply) -> None:
    trainer()
    change = Wrap("madeup.trainer:Trainer.step", double, parameters=("size", "shape"))
    with pytest.warns(PatchWarning, match=r"Trainer\.step has no parameter shape any more"):
        apply(session(patch("madeup-bug", change)))


def test_one_module_is_fixed_wholly_or_not_at_all(library, session, apply) -> None:
    library.write("trainer", SOURCE)
    module = library.load("trainer")
    code = module.Trainer.__init__.__code__
    one = session(patch("madeup-bug", Rewrite(TARGET, BUG), Rewrite("madeup.trainer:gone", BUG)))
    with pytest.warns(PatchWarning):
        apply(one)
    assert module.Trainer.__init__.__code__ is code
    assert {t.status for t in one.report()["madeup-bug"].targets} == {Status.DRIFTED}


def test_a_function_that_somebody_put_there_is_named(library, session, apply) -> None:
    library.write("trainer", SOURCE)
    library.load("trainer").Trainer.__init__ = lambda self: None
    one = session(patch())
    with pytest.warns(PatchWarning, match=r"Trainer.__init__ is \S+:\S+<lambda> here"):
        apply(one)
    assert "before whatever replaced it" in one.report()["madeup-bug"].advice


def test_other_modules_of_a_drifted_patch_are_fixed(library, session, apply) -> None:
    library.write("trainer", SOURCE)
    library.write("other", "def f():\n    pass\n")
    library.load("trainer"), library.load("other")
    one = session(patch("madeup-bug", Rewrite(TARGET, BUG), Rewrite("madeup.other:f", BUG)))
    with pytest.warns(PatchWarning, match="1 other target fixed"):
        apply(one)
    statuses = {t.target: t.status for t in one.report()["madeup-bug"].targets}
    assert statuses == {TARGET: Status.APPLIED, "madeup.other:f": Status.DRIFTED}


def test_an_error_in_a_patch_does_not_break_the_import(library, session, apply) -> None:
    def broken(node: Any) -> Any:
        raise ZeroDivisionError("oops")

    library.write("trainer", SOURCE)
    rule = Rule(Pattern("bug()"), broken)
    one = session(patch("broken-one", Rewrite(TARGET, rule)), patch("good-one"))
    apply(one)
    with pytest.warns(PatchWarning, match="broken-one failed: ZeroDivisionError: oops"):
        module = library.load("trainer")
    record = one.report()["broken-one"]
    assert record.status == Status.FAILED
    assert isinstance(record.error, ZeroDivisionError)
    assert module.Trainer().value == "fixed"

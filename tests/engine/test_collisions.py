"""Two patches of one place: the first stays, the second is refused with both names."""

from __future__ import annotations

from typing import Any

import pytest

from patchkit import PatchError, PatchWarning
from patchkit.patch import Rewrite, Status, Wrap
from patchkit.rewrite import Pattern, Rule, replace

from ..madeup_bug import BUG, SOURCE, TARGET, patch
from .conftest import OTHER_BUG, double


def test_two_patches_of_one_function(trainer, session, apply, library) -> None:
    library.write("trainer", SOURCE.replace("= bug()", "= bug(), other_bug()"))
    cls = library.load("trainer").Trainer
    original = cls.__init__.__code__
    one = session(patch("a-a"), patch("b-b", Rewrite(TARGET, OTHER_BUG)))
    apply(one)
    assert cls().value == ("fixed", "fixed too")
    one.revert("a-a")
    assert {r.id: str(r.status) for r in one.report()} == {"a-a": "available", "b-b": "applied"}
    one.revert("b-b")
    assert cls.__init__.__code__ is original


def test_two_patches_of_one_place_are_refused_with_both_names(trainer, session, apply) -> None:
    trainer()
    one = session(patch("a-a"), patch("b-b", Rewrite(TARGET, Rule(BUG.site, BUG.edit))))
    with pytest.warns(PatchWarning, match="a-a and b-b both edit the same place"):
        report = apply(one)
    assert report["a-a"].status == Status.APPLIED
    assert report["b-b"].status == Status.DRIFTED


STEP = "madeup.trainer:Trainer.step"
SAME_EDIT = Rewrite(TARGET, Rule(BUG.site, BUG.edit))
#: Its text holds the other's site, where none overlaps.
BRINGS_THE_BUG = Rewrite(
    TARGET, Rule(Pattern("other_bug()"), lambda node: [replace(node, "bug()")])
)
ALIAS = "madeup.again:Trainer.step"

RIVALS = {
    "the same place": (
        Rewrite(TARGET, BUG),
        SAME_EDIT,
        "both edit the same place of Trainer.__init__",
    ),
    "one brings what the other fixes": (
        Rewrite(TARGET, BUG),
        BRINGS_THE_BUG,
        "both edit Trainer.__init__",
    ),
    "the same wrap": (Wrap(STEP, double), Wrap(STEP, double), "both wrap Trainer.step"),
    "the same callable by two names": (
        Wrap(STEP, double),
        Wrap(ALIAS, double),
        "both wrap Trainer.step",
    ),
}
each_rivalry = pytest.mark.parametrize("case", RIVALS)


def rivals(session: Any, library: Any, case: str) -> tuple[Any, str]:
    library.write("trainer", SOURCE.replace("= bug()", "= bug(), other_bug()"))
    library.write("again", "from .trainer import Trainer\n")
    first, second, message = RIVALS[case]
    return session(patch("a-a", first), patch("b-b", second)), f"a-a and b-b {message}"


@each_rivalry
@pytest.mark.parametrize("imported", [True, False])
def test_the_second_is_refused(library, session, apply, case: str, imported: bool) -> None:
    one, message = rivals(session, library, case)
    if imported:
        library.load("again")
    with pytest.warns(PatchWarning, match=f"patch b-b drifted: {message}; leave one"):
        apply(one)
        cls = library.load("again").Trainer
    statuses = {r.id: r.status for r in one.report()}
    assert statuses == {"a-a": Status.APPLIED, "b-b": Status.DRIFTED}
    if "wrap" in message:
        assert cls.step(None, 2) == 4


@each_rivalry
def test_strict_raises_and_applies_neither(library, session, apply, case: str) -> None:
    one, message = rivals(session, library, case)
    cls = library.load("again").Trainer
    before = dict(vars(cls)), cls.__init__.__code__
    with pytest.raises(PatchError, match=message):
        apply(one, strict=True)
    assert (dict(vars(cls)), cls.__init__.__code__) == before


@each_rivalry
@pytest.mark.parametrize("name", ["a-a", "b-b"])
def test_either_is_fine_by_itself(library, session, apply, case: str, name: str) -> None:
    one, _ = rivals(session, library, case)
    apply(one, only=name, strict=True)
    library.load("again")
    assert one.report()[name].status is Status.APPLIED


@each_rivalry
def test_the_second_has_its_turn_when_the_first_is_gone(library, session, apply, case) -> None:
    one, _ = rivals(session, library, case)
    cls = library.load("again").Trainer
    before = dict(vars(cls)), cls.__init__.__code__
    with pytest.warns(PatchWarning):
        apply(one)
    one.revert("a-a")
    assert apply(one, only="b-b", strict=True).changed == ("b-b",)
    assert one.report()["b-b"].status is Status.APPLIED
    one.revert(None)
    assert (dict(vars(cls)), cls.__init__.__code__) == before


def test_the_same_wrap_is_refused_before_the_import(library, session, apply) -> None:
    one, message = rivals(session, library, "the same wrap")
    report = apply(one)
    assert report["a-a"].status is Status.PENDING
    assert report["b-b"].status is Status.DRIFTED
    assert message in report["b-b"].reason
    with pytest.warns(PatchWarning, match=message):
        library.load("again")


def test_what_is_not_due_takes_no_place(trainer, session, apply) -> None:
    cls = trainer()
    not_due = patch("a-a", Wrap(STEP, double), affects="<1")
    one = session(not_due, patch("b-b", Wrap(STEP, double)))
    apply(one, strict=True)
    assert cls().step(2) == 4


def test_a_rewrite_and_a_wrap_of_one_function_go_together(library, session, apply) -> None:
    library.write("trainer", SOURCE.replace("return size", "return bug()"))
    cls = library.load("trainer").Trainer
    wrap, rewrite = patch("a-a", Wrap(STEP, double)), patch("b-b", Rewrite(STEP, BUG))
    for order in ((wrap, rewrite), (rewrite, wrap)):
        one = session(*order)
        apply(one, strict=True)
        assert cls.step(None) == "fixedfixed"
        one.revert("b-b")
        assert cls.step(None) == "bugbug"
        one.revert(None)
        assert cls.step(None) == "bug"


def test_what_is_left_of_a_reverted_wrap_takes_no_place(trainer, session, apply) -> None:
    """Below another tool's wrapper it cannot be taken out, and is switched off."""
    cls = trainer()
    one = session(patch("a-a", Wrap(STEP, double)), patch("b-b", Wrap(STEP, double)))
    apply(one, only="a-a")
    ours = vars(cls)["step"]

    def theirs(self: Any, *args: Any) -> Any:
        return ours.__get__(self)(*args)

    theirs.__wrapped__ = ours
    cls.step = theirs
    one.revert("a-a")
    apply(one, only="b-b", strict=True)
    assert cls().step(2) == 4

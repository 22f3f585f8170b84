"""`patched` for the length of a block, with the patches applied before it or without."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import pytest

from patchkit import PatchError, PatchWarning, UsageError, settings
from patchkit.engine.choices import Choices
from patchkit.engine.session import Session
from patchkit.patch import Rewrite, Status, Wrap
from patchkit.reporting.report import Report

from ..madeup_bug import BUG, SOURCE, TARGET, patch
from .conftest import OTHER_BUG, double


def test_patched_puts_back_what_was_before(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch("a-a"), patch("b-b", Wrap("madeup.trainer:Trainer.step", double)))
    apply(one, only="a-a")
    with one.patched(Choices(dtype="fp16")) as report:
        assert {str(r.status) for r in report} == {"applied"}
        assert cls().step(1) == 2
    assert {r.id: str(r.status) for r in one.report()} == {"a-a": "applied", "b-b": "disabled"}
    assert cls().step(1) == 1
    assert cls().value == "fixed"


def test_patched_survives_an_error(trainer, session) -> None:
    cls = trainer()
    one = session(patch())
    with pytest.raises(RuntimeError), one.patched(Choices()):
        raise RuntimeError
    assert cls().value == "bug"


def block(one: Session, *only: str, **options: Any) -> AbstractContextManager[Report]:
    others = options.pop("others", True)
    return one.patched(Choices(only, **options), others=others)


STEP = Wrap("madeup.trainer:Trainer.step", double)


def test_a_block_with_these_patches_and_no_others(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch("a-a"), patch("b-b", STEP))
    apply(one, only="a-a", dtype="fp16")
    code, before = cls.__init__.__code__, {r.id: r.to_dict() for r in one.report()}
    with block(one, "b-b", others=False) as report:
        assert {r.id: str(r.status) for r in report} == {"a-a": "disabled", "b-b": "applied"}
        assert (cls().value, cls().step(2)) == ("bug", 4)
        assert settings.requested_dtype() is None
    assert (cls().value, cls().step(2)) == ("fixed", 2)
    assert cls.__init__.__code__ == code
    assert settings.requested_dtype() == "float16"
    assert {r.id: r.to_dict() for r in one.report()} == before
    one.revert(None)
    assert cls().value == "bug"


def test_with_the_others_by_default(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch("a-a"), patch("b-b", STEP))
    apply(one, only="a-a")
    with block(one, "b-b"):
        assert (cls().value, cls().step(2)) == ("fixed", 4)
    assert (cls().value, cls().step(2)) == ("fixed", 2)


def test_a_wrapper_comes_back_as_the_same_object(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch("b-b", STEP))
    original = vars(cls)["step"]
    apply(one)
    proxy = vars(cls)["step"]
    with block(one, others=False):
        assert vars(cls)["step"] is original
    assert vars(cls)["step"] is proxy
    assert cls().step(2) == 4


def test_a_wrapper_below_another_is_silent_in_the_block(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch("b-b", STEP))
    apply(one)
    ours = vars(cls)["step"]

    def theirs(self: Any, *args: Any) -> Any:
        return ours.__get__(self)(*args)

    theirs.__wrapped__ = ours
    cls.step = theirs
    with block(one, others=False):
        assert cls().step(2) == 2
    assert cls().step(2) == 4
    assert cls.step is theirs
    assert one.report()["b-b"].status is Status.APPLIED


@pytest.mark.parametrize("replace_code", [True, False])
def test_what_is_replaced_in_the_block_stays_so(trainer, session, apply, replace_code) -> None:
    cls = trainer()
    one = session(patch("a-a"), patch("b-b", STEP))
    apply(one)
    with pytest.warns(PatchWarning, match="a-a overridden"), block(one, others=False):
        foreign = lambda self: None  # noqa: E731
        if replace_code:
            cls.__init__.__code__ = foreign.__code__
        else:
            cls.__init__ = foreign
    assert cls.__init__.__code__ is foreign.__code__
    assert {r.id: r.status for r in one.report()} == {
        "a-a": Status.OVERRIDDEN,
        "b-b": Status.APPLIED,
    }


def test_patches_of_one_function_come_back_together(library, session, apply) -> None:
    library.write("trainer", SOURCE.replace("= bug()", "= bug(), other_bug()"))
    cls = library.load("trainer").Trainer
    original = cls.__init__.__code__
    one = session(patch("a-a"), patch("b-b", Rewrite(TARGET, OTHER_BUG)))
    apply(one)
    with block(one, others=False):
        assert cls.__init__.__code__ is original
        with block(one, "b-b", others=False):
            assert cls().value == ("bug", "fixed too")
        assert cls.__init__.__code__ is original
    assert cls().value == ("fixed", "fixed too")
    one.revert(None)
    assert cls.__init__.__code__ is original


def test_what_is_imported_in_the_block_is_fixed_after_it(trainer, session, apply) -> None:
    one = session(patch())
    apply(one)
    with block(one, others=False):
        assert trainer()().value == "bug"
    assert trainer()().value == "fixed"


def test_others_come_back_where_the_block_cannot_begin(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch("a-a"), patch("b-b", Rewrite("madeup.gone:f", BUG)))
    apply(one, only="a-a", strict=True)
    with pytest.raises(PatchError), block(one, "b-b", strict=True, others=False):
        raise AssertionError
    assert cls().value == "fixed"


@pytest.mark.parametrize("others", [True, False])
def test_strictness_is_that_of_before(library, session, apply, others: bool) -> None:
    library.write("trainer", SOURCE.replace("= bug()", "= 1"))
    one = session(patch())
    apply(one, strict=False)
    with block(one, "madeup-bug", strict=True, others=others):
        pass
    with pytest.warns(PatchWarning, match="drifted"):
        library.load("trainer")


def test_others_must_be_a_bool(session) -> None:
    with (
        pytest.raises(UsageError, match="others= must be True or False, not 'no'"),
        block(session(patch()), others="no"),
    ):
        pass

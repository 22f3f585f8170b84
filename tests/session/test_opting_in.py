"""Patches that nobody gets unasked."""

from __future__ import annotations

from typing import Any

import pytest

from patchkit import UsageError
from patchkit.patch import Patch, Status, Wrap

from ..madeup_bug import patch
from .conftest import double

ASKED = {
    "nobody": ({}, None, False),
    "a glob": ({"only": "madeup-*"}, None, False),
    "the id among others": ({"only": ["madeup-bug", "madeup-look"]}, None, True),
    "the id": ({"only": "madeup-look"}, None, True),
    "the keyword": ({"preflight": True}, None, True),
    "the keyword beside another selection": ({"only": "madeup-bug", "preflight": True}, None, True),
    "the variable": ({}, "1", True),
    "the variable says no": ({}, "0", False),
    "the keyword says no": ({"preflight": False}, None, False),
    "the variable, and it is excluded": ({"exclude": "madeup-look"}, "1", False),
}


def look(**more: Any) -> Patch:
    change = Wrap("madeup.trainer:Trainer.step", double)
    return patch("madeup-look", change, opt_in="preflight", **more)


@pytest.mark.parametrize("case", ASKED)
def test_what_nobody_gets_unasked(trainer, session, monkeypatch, case: str) -> None:
    options, variable, asked = ASKED[case]
    if variable is not None:
        monkeypatch.setenv("PATCHKIT_PREFLIGHT", variable)
    cls = trainer()
    before = vars(cls)["step"].__code__
    one = session(patch(), look())
    given = {"only": None, "exclude": None, **options}
    only, exclude = given.pop("only"), given.pop("exclude")
    report = one.apply(only, exclude, strict=True, dtype=None, chosen={}, **given)
    assert cls().step(2) == (4 if asked else 2)
    assert (vars(cls)["step"].__code__ is before) is not asked
    if asked:
        assert report["madeup-look"].status is Status.APPLIED
        assert one.applied() >= {"madeup-look"}
    elif exclude:
        assert report["madeup-look"].status is Status.DISABLED
    else:
        assert report["madeup-look"].status is Status.AVAILABLE
        assert "apply(preflight=True) applies it" in report["madeup-look"].reason
    assert (cls().value == "mended") is (only != "madeup-look")
    one.revert(None)
    assert vars(cls)["step"].__code__ is before


def test_asked_for_once_it_stays_until_it_is_reverted(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch(), look())
    one.apply(None, None, strict=False, dtype=None, chosen={}, preflight=True)
    assert apply(one).changed == ()
    assert cls().step(2) == 4
    assert one.revert("madeup-look").changed == ("madeup-look",)
    assert cls().step(2) == 2
    assert apply(one).changed == ()
    assert cls().step(2) == 2


def test_asking_for_what_is_excluded_contradicts_itself(trainer, session) -> None:
    cls = trainer()
    one = session(patch(), look())
    with pytest.raises(UsageError, match="preflight=True and exclude= contradict each other"):
        one.apply(None, "*-look", strict=False, dtype=None, chosen={}, preflight=True)
    assert cls().value == "bug"


@pytest.mark.parametrize("value", ["perhaps", "2"])
def test_a_variable_that_is_neither_yes_nor_no(trainer, session, apply, monkeypatch, value) -> None:
    monkeypatch.setenv("PATCHKIT_PREFLIGHT", value)
    with pytest.raises(UsageError, match="PATCHKIT_PREFLIGHT must be 1 or 0"):
        apply(session(look()))
    assert trainer()().value == "bug"

"""Patches that nobody gets unasked, by whatever keyword."""

from __future__ import annotations

from typing import Any

import pytest

from patchkit import UsageError
from patchkit.engine.choices import Choices
from patchkit.patch import Patch, Status, Wrap

from ..madeup_bug import patch
from .conftest import double

KEYWORDS = ("preflight", "lookout")
ASKED = {
    "nobody": ({}, None, False),
    "a glob": ({"only": "madeup-*"}, None, False),
    "the id among others": ({"only": ["madeup-bug", "madeup-look"]}, None, True),
    "the id": ({"only": "madeup-look"}, None, True),
    "the keyword": ({"asked": True}, None, True),
    "the keyword beside another selection": ({"only": "madeup-bug", "asked": True}, None, True),
    "the variable": ({}, "1", True),
    "the variable says no": ({}, "0", False),
    "the keyword says no": ({"asked": False}, None, False),
    "the variable, and it is excluded": ({"exclude": "madeup-look"}, "1", False),
}


def look(keyword: str = "lookout", name: str = "madeup-look", **more: Any) -> Patch:
    change = Wrap("madeup.trainer:Trainer.step", double)
    return patch(name, change, opt_in=keyword, **more)


@pytest.mark.parametrize("keyword", KEYWORDS)
@pytest.mark.parametrize("case", ASKED)
def test_what_nobody_gets_unasked(
    trainer, session, apply, monkeypatch, case: str, keyword: str
) -> None:
    options, variable, asked = ASKED[case]
    options = {keyword if name == "asked" else name: value for name, value in options.items()}
    if variable is not None:
        monkeypatch.setenv(f"PATCHKIT_{keyword.upper()}", variable)
    cls = trainer()
    before = vars(cls)["step"].__code__
    one = session(patch(), look(keyword))
    report = apply(one, strict=True, **options)
    assert cls().step(2) == (4 if asked else 2)
    assert (vars(cls)["step"].__code__ is before) is not asked
    if asked:
        assert report["madeup-look"].status is Status.APPLIED
        assert one.applied() >= {"madeup-look"}
    elif "exclude" in options:
        assert report["madeup-look"].status is Status.DISABLED
    else:
        assert report["madeup-look"].status is Status.AVAILABLE
        assert f"apply({keyword}=True) applies it" in report["madeup-look"].reason
        assert f"apply({keyword}=True) applies it" in report["madeup-look"].advice
        assert f"on request: madeup-look, by patchkit.apply({keyword}=True)" in str(report)
    assert (cls().value == "fixed") is (options.get("only") != "madeup-look")
    one.revert(None)
    assert vars(cls)["step"].__code__ is before


def test_one_keyword_asks_for_no_other(trainer, session, apply) -> None:
    trainer()
    one = session(look(), patch("madeup-other", opt_in="other"))
    report = apply(one, lookout=True)
    assert [str(found.status) for found in report] == ["applied", "available"]


def test_patches_may_share_a_keyword(trainer, session, apply) -> None:
    trainer()
    one = session(look(), patch("madeup-other", opt_in="lookout"))
    assert {str(found.status) for found in apply(one, lookout=True)} == {"applied"}


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_asked_for_once_it_stays_until_it_is_reverted(trainer, session, apply, keyword) -> None:
    cls = trainer()
    one = session(patch(), look(keyword))
    apply(one, **{keyword: True})
    assert apply(one).changed == ()
    assert cls().step(2) == 4
    assert one.revert("madeup-look").changed == ("madeup-look",)
    assert cls().step(2) == 2
    assert apply(one).changed == ()
    assert cls().step(2) == 2


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_for_the_length_of_a_block(trainer, session, keyword) -> None:
    cls = trainer()
    one = session(patch(), look(keyword))
    with one.patched(Choices(keywords={keyword: True})):
        assert cls().step(2) == 4
    assert cls().step(2) == 2


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_asking_for_what_is_excluded_contradicts_itself(trainer, session, apply, keyword) -> None:
    cls = trainer()
    one = session(patch(), look(keyword))
    with pytest.raises(UsageError, match=f"{keyword}=True and exclude= contradict each other"):
        apply(one, exclude="*-look", **{keyword: True})
    assert cls().value == "bug"


@pytest.mark.parametrize("keyword", KEYWORDS)
@pytest.mark.parametrize("value", ["perhaps", "2"])
def test_a_variable_that_is_neither_yes_nor_no(
    trainer, session, apply, monkeypatch, value, keyword
) -> None:
    variable = f"PATCHKIT_{keyword.upper()}"
    monkeypatch.setenv(variable, value)
    with pytest.raises(UsageError, match=f"{variable} must be 1 or 0"):
        apply(session(look(keyword)))
    assert trainer()().value == "bug"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lookout": "yes"}, "lookout= must be True or False, not 'yes'"),
        ({"lookout": 1}, "lookout= must be True or False, not 1"),
        ({"lokout": True}, r"no argument 'lokout'\. Did you mean 'lookout'\?.*request: lookout$"),
        ({"lokout": False}, "no argument 'lokout'"),
        ({"preflight": True}, "no argument 'preflight'"),
    ],
)
def test_a_keyword_that_makes_no_sense(trainer, session, apply, given: Any, message: str) -> None:
    cls = trainer()
    with pytest.raises(UsageError, match=message):
        apply(session(patch(), look()), **given)
    assert cls().value == "bug"

"""`False` is off, whatever variables and earlier calls say; `None` leaves things as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from patchkit import UsageError
from patchkit.engine.choices import Choices
from patchkit.patch import Status

from ..madeup_bug import patch
from ..processes import python_path
from . import old_library
from .test_opting_in import KEYWORDS, look

BOTH = {"PATCHKIT_PREFLIGHT": "1", "PATCHKIT_LEGACY": "1"}
ON, OFF = "preflight=True, legacy=True", "preflight=False, legacy=False"
CALLS = {
    # what is called, one after the other, each with what is on afterwards
    "nothing said": ({}, [("", "")]),
    "on, then None, then off": (
        {},
        [(ON, "pl"), ("", "pl"), ("preflight=None, legacy=None", "pl"), (OFF, ""), ("", "")],
    ),
    "each alone": (
        {},
        [(ON, "pl"), ("preflight=False", "l"), ("legacy=False", ""), ("preflight=True", "p")],
    ),
    "versions, then off": ({}, [("legacy='transformers==4.44.2'", "l"), ("legacy=False", "")]),
    "variables": (BOTH, [("", "pl"), (OFF, ""), ("", ""), (ON, "pl"), ("", "pl")]),
    "against variables at once": (BOTH, [(OFF, ""), ("", ""), ("legacy=True", "l")]),
    "None and variables": (BOTH, [("preflight=None, legacy=None", "pl")]),
    "the id names it": (BOTH, [(OFF, ""), ("'transformers-preflight'", "p"), ("", "p")]),
    "off and nothing was on": ({}, [(OFF, ""), (ON, "pl")]),
}
EVERYWHERE = pytest.mark.parametrize("imported", [True, False], ids=["after", "before"])


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    folder = old_library.write(tmp_path / "library")
    return {"PYTHONPATH": python_path(folder), "PYTHONDONTWRITEBYTECODE": "1"}


@EVERYWHERE
@pytest.mark.parametrize("case", CALLS)
def test_calls_one_after_the_other(before_patchkit, environment, case: str, imported: bool) -> None:
    variables, calls = CALLS[case]
    program = [old_library.SEE, "import transformers" if imported else "", "result = []"]
    for arguments, _ in calls:
        program += [f"patchkit.apply({arguments})", "result.append(see())"]
    program += ["patchkit.revert()", "result.append(see())"]
    found = before_patchkit("\n".join(program), env={**environment, **variables})
    assert found == [*(on for _, on in calls), ""]


def test_what_was_switched_off_is_told_as_changed(trainer, session, apply) -> None:
    trainer()
    one = session(patch(), look())
    apply(one, lookout=True)
    assert apply(one, lookout=False).changed == ("madeup-look",)
    assert apply(one, lookout=False).changed == ()


def test_revert_forgets_that_it_was_switched_off(before_patchkit, environment) -> None:
    program = f"{old_library.SEE}\npatchkit.apply({OFF})\npatchkit.revert()\npatchkit.apply()\n"
    assert before_patchkit(f"{program}result = see()", env={**environment, **BOTH}) == "pl"
    part = program.replace("revert()", "revert('trl-*')")
    assert before_patchkit(f"{part}result = see()", env={**environment, **BOTH}) == ""


@pytest.mark.parametrize("variables", [{}, BOTH], ids=["without variables", "with variables"])
@EVERYWHERE
def test_a_block(before_patchkit, environment, variables: dict[str, str], imported: bool) -> None:
    program = f"""
{old_library.SEE}
{"import transformers" if imported else ""}
patchkit.apply({"" if variables else ON})
result = [see()]
with patchkit.patched({OFF}):
    result.append(see())
    with patchkit.patched(preflight=True):
        result.append(see())
        patchkit.apply(preflight=False, legacy=True)
        result.append(see())
    result.append(see())
    patchkit.apply()
    result.append(see())
result.append(see())
with patchkit.patched(others=False, {OFF}):
    result.append(see())
result.append(see())
"""
    found = before_patchkit(program, env={**environment, **variables})
    assert found == ["pl", "", "p", "l", "", "", "pl", "", "pl"]


def test_a_block_that_raises(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch(), look())
    apply(one, lookout=True)
    with pytest.raises(RuntimeError), one.patched(Choices(keywords={"lookout": False})):
        assert cls().step(2) == 2
        raise RuntimeError
    assert cls().step(2) == 4


def test_a_call_that_raises_switches_nothing_off(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch(), look())
    apply(one, lookout=True)
    with pytest.raises(UsageError):
        apply(one, lookout=False, nonsense="1")
    assert cls().step(2) == 4
    assert apply(one)["madeup-look"].status is Status.APPLIED


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_off_against_the_variable_and_an_earlier_call(
    trainer, session, apply, monkeypatch, keyword: str
) -> None:
    cls = trainer()
    monkeypatch.setenv(f"PATCHKIT_{keyword.upper()}", "1")
    one = session(look(keyword), patch("madeup-other", opt_in="other"))
    apply(one)
    assert cls().step(2) == 4
    report = apply(one, **{keyword: False})
    assert cls().step(2) == 2
    assert report["madeup-look"].status is Status.AVAILABLE
    assert f"apply({keyword}=True) applies it" in report["madeup-look"].advice
    assert apply(one, other=True)["madeup-look"].status is Status.AVAILABLE
    apply(one, **{keyword: None})
    assert cls().step(2) == 2
    apply(one, **{keyword: True})
    assert cls().step(2) == 4
    one.revert("madeup-look")
    apply(one)  # nothing says off any more, and the variable says on
    assert cls().step(2) == 4


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_naming_what_is_switched_off_contradicts_itself(trainer, session, apply, keyword) -> None:
    cls = trainer()
    one = session(patch(), look(keyword))
    with pytest.raises(UsageError, match=f"{keyword}=False and only= contradict each other"):
        apply(one, only="madeup-look", **{keyword: False})
    assert cls().value == "bug"
    apply(one, only="madeup-*", **{keyword: False})
    assert (cls().value, cls().step(2)) == ("fixed", 2)

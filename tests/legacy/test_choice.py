"""`apply(legacy=…)`: what can be chosen, and how it reaches other interpreters."""

from __future__ import annotations

import pytest

from patchkit import UsageError
from patchkit.engine.choices import Choices
from patchkit.legacy import choice

VERSIONS = "trl==0.11.4, transformers==4.44.2"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, None),
        (False, False),
        (True, True),
        (VERSIONS, VERSIONS),
        (f" {VERSIONS}\n", VERSIONS),
    ],
)
def test_choices(given: object, kept: bool | str | None) -> None:
    choices = Choices(legacy=given)
    assert choices.legacy == kept
    assert Choices(**{**vars(choices), "strict": True}).legacy == kept
    assert Choices.decode(choices.encode()).legacy == kept


@pytest.mark.parametrize("given", [1, "", " ", ["trl==0.11.4"]])
def test_what_makes_no_sense(given: object) -> None:
    with pytest.raises(UsageError, match=r"legacy= must be True, False, or the versions"):
        Choices(legacy=given)


@pytest.mark.parametrize(
    ("text", "chosen"),
    [("1", True), ("TRUE", True), ("0", False), ("", False), (VERSIONS, VERSIONS)],
)
def test_the_variable(monkeypatch, text: str, chosen: bool | str) -> None:
    monkeypatch.setenv("PATCHKIT_LEGACY", text)
    assert choice.from_environment() == chosen


def test_without_the_variable(monkeypatch) -> None:
    monkeypatch.delenv("PATCHKIT_LEGACY", raising=False)
    assert choice.from_environment() is False

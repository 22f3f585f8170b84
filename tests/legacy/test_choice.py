"""`apply(legacy=…)`: what can be chosen, and how it reaches other interpreters."""

from __future__ import annotations

import dataclasses
import json

import pytest

from patchkit import UsageError
from patchkit.engine.choices import Choices
from patchkit.legacy import choice

VERSIONS = "trl==0.11.4, transformers==4.44.2"


@pytest.mark.parametrize(
    ("given", "kept"),
    [(None, None), (False, None), (True, "on"), (VERSIONS, VERSIONS), (f" {VERSIONS}\n", VERSIONS)],
)
def test_choices(given: object, kept: str | None) -> None:
    choices = Choices(legacy=given)
    assert choices.legacy == kept
    assert dataclasses.replace(choices, strict=True).legacy == kept
    assert Choices.decode(choices.encode()).legacy == kept


@pytest.mark.parametrize("given", [1, "", " ", ["trl==0.11.4"]])
def test_what_makes_no_sense(given: object) -> None:
    with pytest.raises(UsageError, match=r"legacy= must be True, False, or the versions"):
        Choices(legacy=given)


def test_choices_of_an_older_patchkit() -> None:
    fields = json.loads(Choices().encode())
    del fields["legacy"]
    assert Choices.decode(json.dumps(fields)).legacy is None


@pytest.mark.parametrize(
    ("text", "chosen"),
    [("1", "on"), ("TRUE", "on"), ("0", None), ("", None), (VERSIONS, VERSIONS)],
)
def test_the_variable(monkeypatch, text: str, chosen: str | None) -> None:
    monkeypatch.setenv("PATCHKIT_LEGACY", text)
    assert choice.from_environment() == chosen


def test_without_the_variable(monkeypatch) -> None:
    monkeypatch.delenv("PATCHKIT_LEGACY", raising=False)
    assert choice.from_environment() is None

"""Lengths of prompts and completions, by tokens."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from patchkit.legacy.converting.prompts import Limits, limits_of
from patchkit.legacy.versions.written_for import parse

PROMPT = list(range(10))


def _limits(**changed: Any) -> Limits:
    usual = {
        "prompt": 4,
        "completion": None,
        "whole": 12,
        "from_start": False,
        "if_too_long": True,
    }
    return Limits(**{**usual, **changed})


def test_what_fits_is_left_alone() -> None:
    assert _limits().cut(PROMPT, [[1, 2], [3]]) == (PROMPT, [[1, 2], [3]])
    assert _limits(whole=None).cut(PROMPT, [[1] * 9]) == (PROMPT, [[1] * 9])


@pytest.mark.parametrize(("from_start", "kept"), [(False, PROMPT[-4:]), (True, PROMPT[:4])])
def test_a_prompt_is_cut_before_completions(from_start: bool, kept: list[int]) -> None:
    limits = _limits(from_start=from_start)
    assert limits.cut(PROMPT, [[1] * 8, [2]]) == (kept, [[1] * 8, [2]])
    assert limits.cut(PROMPT, [[1] * 9, [2]]) == (kept, [[1] * 8, [2]])


def test_each_prompt_and_completion() -> None:
    limits = _limits(completion=2, if_too_long=False, whole=None)
    assert limits.cut(PROMPT, [[1] * 3, [2]]) == (PROMPT[-4:], [[1] * 2, [2]])
    assert _limits(prompt=None, if_too_long=False).cut(PROMPT, [[1]]) == (PROMPT, [[1]])


def test_limits_of_a_configuration() -> None:
    def limits(written_for: str = "", **kept: Any) -> Limits | None:
        args = SimpleNamespace(max_length=12, **kept)
        release = parse(written_for) if written_for else None
        return limits_of(args, release, always="trl 0.12.0")

    assert limits() is None
    each = limits(max_prompt_length=4)
    assert each == _limits(if_too_long=False)
    assert limits(max_prompt_length_of_trainer=4) == _limits()
    assert limits("trl==0.11.4", max_prompt_length=4) == _limits()
    assert limits("trl==0.12.0", max_prompt_length=4) == each
    assert limits("trl==0.11.4", max_prompt_length=4, truncation_mode="keep_start") == _limits(
        from_start=True
    )

"""Fixtures: the table for the newest releases that it knows."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

pytest.importorskip("libcst")

from patchkit.legacy.versions.due import Due
from patchkit.modernize.findings import Modernized
from patchkit.modernize.python import modernize
from patchkit.modernize.target import due_for

NEWEST = "trl==1.16.0, transformers==5.23.0, peft==0.21.2, accelerate==1.15.0"
Rewrite = Callable[[str], Modernized]


@pytest.fixture(scope="session")
def newest() -> Due:
    return due_for(NEWEST)


@pytest.fixture
def rewrite(newest: Due) -> Rewrite:
    """Return what rewrites a text, which it must not change a second time."""

    def rewritten(text: str) -> Modernized:
        result = modernize(dedent(text), newest)
        compile(result.text, "<rewritten>", "exec")
        assert modernize(result.text, newest).text == result.text
        return result

    return rewritten

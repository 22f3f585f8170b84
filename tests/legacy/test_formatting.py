"""Formatting functions that return lists: of a batch's texts, or of one row's text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from patchkit.legacy.converting.formatting import OneText

ROW = {"asked": "a", "told": "it's b"}


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda row: f"{row['asked']} {row['told']}", "a it's b"),
        (lambda row: [f"{row['asked']} {row['told']}"], "a it's b"),
        (lambda rows: [" ".join(pair) for pair in zip(*rows.values(), strict=True)], "a it's b"),
        (lambda rows: [f"{rows['asked'][0]} {rows['told'][0]}"], "a it's b"),
    ],
)
def test_a_row_has_one_text(function: Callable[[Any], Any], text: str) -> None:
    assert OneText(function)(ROW) == text

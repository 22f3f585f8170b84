"""Each keyword of the table on the installed libraries: an error without the layer, none with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .programs import answer

SCRIPT = Path(__file__).with_name("each_keyword.py")


def tried(side: str, folder: Path) -> list[dict[str, Any]]:
    became: list[dict[str, Any]] = answer(SCRIPT, side, folder)
    return became


@pytest.fixture(scope="module")
def off(tmp_path_factory) -> list[dict[str, Any]]:
    return tried("off", tmp_path_factory.mktemp("off"))


@pytest.fixture(scope="module")
def on(tmp_path_factory) -> list[dict[str, Any]]:
    return tried("on", tmp_path_factory.mktemp("on"))


def test_each_old_keyword_is_an_error_without_the_layer(off):
    wrong = [
        result
        for result in off
        if f"unexpected keyword argument '{result['name']}'" not in result["became"]
    ]
    assert not wrong
    assert off


def test_each_old_keyword_works_with_the_layer_or_is_refused(on):
    wrong = [result for result in on if not result["became"].startswith(result["expected"])]
    assert not wrong
    assert {result["expected"] for result in on} == {"works", "refused"}

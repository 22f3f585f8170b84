"""A script of today on older libraries: its keywords are errors without the layer, and none with."""

from __future__ import annotations

from pathlib import Path

import pytest

from patchkit.environment import in_range, installed_version

from .programs import answer

SCRIPT = Path(__file__).with_name("todays_keywords.py")


def tried(side: str, folder: Path) -> dict[str, tuple[str, str]]:
    became: dict[str, tuple[str, str]] = answer(SCRIPT, side, folder, timeout=600)
    return became


@pytest.mark.skipif(
    not in_range(installed_version("trl") or "9999", "<0.28"),
    reason="TRL has today's keywords",
)
def test_todays_keywords(tmp_path) -> None:
    off = tried("off", tmp_path)
    has_dtype = in_range(installed_version("transformers") or "9999", ">=4.56")
    taken = {what for what, (_, became) in off.items() if became == "taken"}
    assert taken == ({"from_pretrained(dtype=)"} if has_dtype else set())
    for what, (keyword, became) in off.items():
        assert what in taken or f"unexpected keyword argument '{keyword}'" in became
    on = tried("on", tmp_path)
    assert on.keys() == off.keys()
    assert {became for _, became in on.values()} == {"taken"}

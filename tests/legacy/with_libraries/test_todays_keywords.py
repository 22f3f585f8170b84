"""A current script on older libraries: its keywords are errors without the layer, and work with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from patchkit.environment import in_range, installed_version

from .programs import answer, printed, run_text

SCRIPT = Path(__file__).with_name("todays_keywords.py")


def tried(side: str, folder: Path) -> dict[str, tuple[str, str]]:
    became: dict[str, tuple[str, str]] = answer(SCRIPT, side, folder)
    return became


SHARE = """
import json, sys
if sys.argv[1] == "on":
    import patchkit
    patchkit.apply(only=[], legacy=True)
from dataclasses import dataclass
from transformers import TrainingArguments

@dataclass
class Own(TrainingArguments):
    mine: int = 1

def steps(kind, given):
    try:
        return kind("out", use_cpu=True, warmup_steps=given).get_warmup_steps(100)
    except ValueError as error:
        return str(error)

print(json.dumps([steps(kind, given) for kind in (TrainingArguments, Own) for given in (0.1, 7, 0)]))
"""


@pytest.mark.skipif(
    not in_range(installed_version("transformers") or "9999", "<5"),
    reason="Transformers takes a share of the steps",
)
def test_a_share_of_the_steps(tmp_path) -> None:
    found = {}
    for side in ("off", "on"):
        result = run_text(SHARE, side, folder=tmp_path)
        found[side] = printed(result)
    refused = "warmup_steps must be of type int and must be 0 or a positive integer."
    assert found["off"] in ([0.1, 7, 0] * 2, [refused, 7, 0] * 2)
    assert found["on"] == [10, 7, 0] * 2
    assert (
        "(warmup_steps=0.1) came with Transformers 5.0.0; write warmup_ratio=0.1" in result.stderr
    )


@pytest.mark.skipif(
    not in_range(installed_version("trl") or "9999", "<0.28"),
    reason="TRL has the current keywords",
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

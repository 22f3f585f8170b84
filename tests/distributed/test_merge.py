"""Merged adapters under FSDP: the base is kept, unless the launcher says that FSDP trains."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ..patches.due import only_if_due

SCRIPT = str(Path(__file__).with_name("merge_script.py"))


@only_if_due("peft-exact-unmerge")
@pytest.mark.parametrize(("variable", "is_exact"), [("false", True), ("true", False)])
def test_merging(two_ranks, variable: str, is_exact: bool) -> None:
    done = two_ranks(SCRIPT, "fsdp", "patched", env={"ACCELERATE_USE_FSDP": variable})
    # Two processes write to one pipe: lines may run into each other.
    told = re.findall(r"OUTCOME (\d+) others, merged (True|False)", done.stdout)
    assert len(told) == 2, done.stderr[-3000:]
    assert [(int(others) == 0, merged) for others, merged in told] == [(is_exact, "True")] * 2

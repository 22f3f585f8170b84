"""A small sample of what each tool of `workbench/reliability` tries on the made-up library."""

from __future__ import annotations

import pytest

SAMPLES = {
    "inject": ("--sample", "3", "--no-with-ends"),
    "signals": ("--trials", "20"),
    "threads": ("--seconds", "3"),
    "cycles": ("--times", "20"),
    "processes": ("--no-torch", "--forks", "10"),
    "mocks": ("--made-up", "--sample", "40"),
}


@pytest.mark.parametrize("tool", SAMPLES)
def test_sample(run_tool, tool: str) -> None:
    found = run_tool(tool, *SAMPLES[tool])
    assert sum(found["tried"].values()) >= 18
    assert not found["wrong"], "\n".join(found["findings"])

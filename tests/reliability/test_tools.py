"""A small sample of what each tool of `reliability/` tries on a made-up library."""

from __future__ import annotations


def test_errors_at_lines_of_the_engine(run_tool) -> None:
    found = run_tool("inject", "--sample", "6", "--no-with-ends")
    assert sum(found["tried"].values()) > 200
    assert not found["wrong"], found["findings"]

"""The tools of `workbench/reliability` on the real libraries."""

from __future__ import annotations


def test_identity(run_tool) -> None:
    found = run_tool("identity")
    assert found["tried"]["libraries first"] > 100_000
    assert not found["wrong"], "\n".join(found["findings"])


def test_looks_and_pickles_as_before(run_tool) -> None:
    found = run_tool("pickling")
    assert found["tried"]["pickle"] >= 8
    assert not found["wrong"], "\n".join(found["findings"])


def test_mocks(run_tool) -> None:
    found = run_tool("mocks", "--real")
    assert found["tried"]["real, applied, then mocked"] >= 8
    assert not found["wrong"], "\n".join(found["findings"])


def test_workers_and_ranks(run_tool) -> None:
    for only in ("DataLoader", "two ranks"):
        found = run_tool("processes", "--only", only)
        assert not found["wrong"], "\n".join(found["findings"])

"""The tools of `workbench/reliability` on the real libraries."""

from __future__ import annotations


def test_identity(run_tool) -> None:
    found = run_tool("identity", timeout=900)
    assert found["tried"]["libraries first"] > 100_000
    assert not found["wrong"], "\n".join(found["findings"])


def test_looks_and_pickles_as_before(run_tool) -> None:
    found = run_tool("pickling", timeout=600)
    assert found["tried"]["pickle"] >= 8
    assert not found["wrong"], "\n".join(found["findings"])


def test_mocks(run_tool) -> None:
    found = run_tool("mocks", "--real", timeout=900)
    assert found["tried"]["real, applied, then mocked"] >= 8
    assert not found["wrong"], "\n".join(found["findings"])


def test_workers_and_ranks(run_tool) -> None:
    for only in ("DataLoader", "two ranks"):
        found = run_tool("processes", "--only", only, timeout=600)
        assert not found["wrong"], "\n".join(found["findings"])

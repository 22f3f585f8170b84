"""Runs the tools of `workbench/reliability` on small samples."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def run_tool(run_workbench, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """`run_tool("inject", "--sample", "5")`: what the tool found, as its JSON says."""

    def run(tool: str, *arguments: str) -> dict[str, Any]:
        done = run_workbench("reliability", tool, "--json", *arguments, folder=tmp_path)
        assert done.returncode in (0, 1), done.stderr[-4000:]
        found: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == bool(found["wrong"])
        return found

    return run

"""Runs the tools of `reliability/` on small samples."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).parents[2] / "reliability"


@pytest.fixture
def run_tool() -> Callable[..., dict[str, Any]]:
    """`run_tool("inject", "--sample", "5")`: what the tool found, as its JSON says."""

    def run(tool: str, *arguments: str, timeout: float = 300) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, str(TOOLS / f"{tool}.py"), "--json", *arguments],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr[-4000:]
        found: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == bool(found["wrong"])
        return found

    return run

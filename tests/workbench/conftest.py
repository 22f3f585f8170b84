"""The workbench of the checkout, in this process and in others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def on_path() -> dict[str, str]:
    """Variables with which another interpreter finds the workbench."""
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), before]))}


@pytest.fixture(scope="session")
def run_workbench(on_path: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `python -m workbench …` in a folder."""

    def run(
        *arguments: str, folder: Path, timeout: float = 600
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "workbench", *arguments],
            capture_output=True,
            text=True,
            cwd=folder,
            env=on_path,
            timeout=timeout,
            check=False,
        )

    return run

"""The workbench of the checkout, in this process and in others."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from workbench.commands import workbench

from ..processes import python_path, run_python

ROOT = Path(__file__).resolve().parents[2]


def invoke(*arguments: str) -> Result:
    """Run a command of the workbench in this process."""
    return CliRunner().invoke(workbench, arguments, prog_name="python -m workbench")


@pytest.fixture(scope="session")
def on_path() -> dict[str, str]:
    """Variables with which another interpreter finds the workbench."""
    return {**os.environ, "PYTHONPATH": python_path(ROOT)}


@pytest.fixture(scope="session")
def run_workbench(on_path: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `python -m workbench …` in a folder."""

    return functools.partial(run_python, "-m", "workbench", env=on_path)


IN_A_FORK = f"""
import runpy, sys
import forks
forks.let_children_be_forks()
sys.path.append({str(ROOT)!r})
runpy.run_module("workbench", run_name="__main__", alter_sys=True)
"""


@pytest.fixture(scope="session")
def forked_workbench(forks, run_workbench) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `python -m workbench …` where the libraries are imported already; so do its servers.

    with_libraries/test_ranks.py has it as a user starts it.
    """

    def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        done = forks.run(folder, {}, argv=["-m", *arguments], code=IN_A_FORK)
        return subprocess.CompletedProcess(arguments, *done)

    return run if forks else run_workbench

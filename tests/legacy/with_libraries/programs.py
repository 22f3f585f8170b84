"""Run programs of these tests in interpreters of their own, and read their answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def run(
    *command: str, folder: Path, timeout: int = 900, fed: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, on the CPU.

    Args:
        command: the command.
        folder: where it runs.
        timeout: seconds that it may take.
        fed: what it reads from standard input; None for nothing.
        variables: of its environment, besides those that are there.
    """
    return subprocess.run(
        command,
        input=fed,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", **variables},
        timeout=timeout,
        check=False,
    )


def run_text(
    text: str, *arguments: str, folder: Path, fed: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Write a script into a folder, and run it there."""
    (folder / "script.py").write_text(text)
    return run(sys.executable, "-W", "ignore", "script.py", *arguments, folder=folder, fed=fed)


def printed(done: subprocess.CompletedProcess[str]) -> Any:
    """Return what a program printed last, as JSON."""
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def answer(script: Path, side: str, folder: Path) -> Any:
    """Return what a program prints last, as JSON.

    Args:
        script: the program.
        side: whether the layer is there: `off` or `on`.
        folder: where it runs.
    """
    return printed(run(sys.executable, str(script), side, folder=folder))

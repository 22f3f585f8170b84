"""Run programs of these tests in interpreters of their own, and read their answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from ...conftest import BENEATH, LIBRARIES, Forks


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


def run_script(
    script: Path,
    *arguments: str,
    folder: Path,
    fed: str | None = None,
    forks: Forks = BENEATH,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run a script in a process that has imported no library, but what lies beneath them.

    PyTorch takes most of what an import of TRL does, and nothing here is about PyTorch.

    Args:
        script: the file.
        arguments: its arguments.
        folder: where it runs.
        fed: what it reads from standard input; None for nothing.
        forks: whose forks run it.
        variables: of its environment, besides those that are there.
    """
    if not hasattr(os, "fork"):
        return run(sys.executable, str(script), *arguments, folder=folder, fed=fed, **variables)
    request: dict[str, Any] = {"argv": [str(script), *arguments], "file": str(script)}
    if fed is not None:
        (folder / "stdin").write_text(fed)
        request["fed"] = "stdin"
    status, stdout, stderr = forks.run(folder, {"CUDA_VISIBLE_DEVICES": "", **variables}, **request)
    return subprocess.CompletedProcess(request["argv"], status, stdout, stderr)


def run_text(
    text: str, *arguments: str, folder: Path, fed: str | None = None, forks: Forks = BENEATH
) -> subprocess.CompletedProcess[str]:
    """Write a script into a folder, and run it there."""
    script = folder / "script.py"
    script.write_text(text)
    return run_script(script, *arguments, folder=folder, fed=fed, forks=forks)


def forks_of(side: str) -> Forks:
    """Return whose forks run a side; without the layer it does not matter what is imported when."""
    return LIBRARIES if side == "off" else BENEATH


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
    return printed(run_script(script, side, folder=folder, forks=forks_of(side)))

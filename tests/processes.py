"""Run programs of these tests in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

Done = subprocess.CompletedProcess[str]


def run(
    *command: object,
    folder: Path | None = None,
    fed: str | None = None,
    env: Mapping[str, str] | None = None,
    **variables: str,
) -> Done:
    """Run a command, whatever its exit status.

    Args:
        command: the command.
        folder: where it runs; None for here.
        fed: what it reads from standard input; None for what this process does.
        env: its environment; None for that of this process.
        variables: of its environment, besides those.
    """
    return subprocess.run(
        [str(word) for word in command],
        input=fed,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**(os.environ if env is None else env), **variables},
        timeout=900,
        check=False,
    )


def run_python(*arguments: object, **options) -> Done:
    """Run this Python; `options` are those of `run`."""
    return run(sys.executable, *arguments, **options)


def python_path(*folders: object) -> str:
    """Return a `PYTHONPATH` with these folders before those of this process."""
    return os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])

"""Run a command with a time limit, and find the error that ended it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

OUT_OF_TIME = -1
"""The exit code of a command whose time was up."""
_ERROR = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt|Unavailable)\b(?::|$)")
_LAUNCHERS = ("subprocess.CalledProcessError", "torch.distributed.elastic")
"""Errors of programs that start the script, and say no more than that it failed."""


def call(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], limit: float, log: Path
) -> tuple[int, str]:
    """Run a command with all that it starts.

    Args:
        command: the command.
        folder: the folder that it runs in.
        environment: its variables.
        limit: seconds that it may take.
        log: the file that it writes into.

    Returns:
        its exit code, or `OUT_OF_TIME`, and what it wrote.
    """
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = OUT_OF_TIME
    return code, log.read_text(encoding="utf-8", errors="replace")


def last_error(output: str) -> str:
    """Return the line of the last error of an output, or the last line if it has none."""
    return named_error(output) or _lines(output)[-1]


def named_error(output: str) -> str:
    """Return the line of the last error of an output; empty if it has none."""
    lines = _lines(output)
    errors = [line for line in lines if _ERROR.match(line) and not line.startswith(_LAUNCHERS)]
    refused = [line for line in lines if ": error: " in line]
    return (errors or refused or [""])[-1]


def _lines(output: str) -> list[str]:
    return [line.strip() for line in output.splitlines() if line.strip()] or [""]

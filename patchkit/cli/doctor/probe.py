"""Run the process that probes torch, and collect its answers."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from typing import Any

from ...children import command, parse_answer

TIMEOUT = 180
"""Seconds that importing torch and bitsandbytes and using each device may take."""


def probe(substitute: Sequence[str] = ()) -> dict[str, Any]:
    """Return the answers of `probing`; under `ended`, how the process failed, if it did."""
    try:
        result = subprocess.run(
            substitute or command("patchkit.cli.doctor.probing"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        answers = _answers(late.stdout)
        answers["ended"] = f"took more than {TIMEOUT} s"
        return answers
    answers = _answers(result.stdout)
    if result.returncode:
        answers["ended"] = _end(result.returncode, result.stderr)
    return answers


def _answers(output: bytes | None) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for line in (output or b"").splitlines():
        answers |= parse_answer(line) or {}
    return answers


def _end(status: int, errors: bytes) -> str:
    if status < 0:
        try:
            return f"was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"was ended by signal {-status}"
    lines = errors.decode("utf-8", "replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"ended with status {status}: {last[:200]}"

"""Run a program of these tests in an interpreter of its own, and read its answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def answer(script: Path, side: str, folder: Path, timeout: int = 900) -> Any:
    """Return what a program prints last, as JSON.

    Args:
        script: the program.
        side: whether the layer is there: `off` or `on`.
        folder: where it runs.
        timeout: seconds that it may take.
    """
    done = subprocess.run(
        [sys.executable, str(script), side],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])

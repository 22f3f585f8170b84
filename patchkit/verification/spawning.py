"""Run each reproducer in a process of its own, which ends when its outcome is not awaited."""

from __future__ import annotations

import os
import subprocess
from typing import Any

from .. import children
from ..catalogue.folders import VARIABLE


class SpawnRunner:
    """Run reproducers, from any thread, each for so many seconds at most."""

    def __init__(self, timeout: float, patches: str) -> None:
        self._timeout = timeout
        self._patches = patches
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def __call__(self, patch_id: str, patched: bool) -> dict[str, Any]:
        """Return what `patchkit.verification.reproduce.outcome` says in a new process."""
        if self._stopped:
            return {"outcome": "error", "message": "stopped"}
        with subprocess.Popen(
            children.command(
                "patchkit.verification.reproduce", patch_id, *(["--patched"] if patched else [])
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, VARIABLE: self._patches},
        ) as process:
            self._running.add(process)
            try:
                if self._stopped:  # stopped just before this process was registered
                    process.kill()
                output, errors = process.communicate(timeout=self._timeout)
                answers = list(filter(None, map(children.parse_answer, output.splitlines())))
            except subprocess.TimeoutExpired:
                process.kill()
                return {"outcome": "error", "message": f"took more than {self._timeout:g} s"}
            finally:
                self._running.discard(process)
        died = {"outcome": "error", "message": f"died: {errors.strip()[-500:]}"}
        return answers[-1] if answers else died

    def stop(self) -> None:
        """End the running reproducers, and start no more."""
        self._stopped = True
        for process in tuple(self._running):
            process.kill()

"""Trainings in fresh processes, on the real libraries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TRAIN_TIMEOUT = 900


@pytest.fixture(scope="session", autouse=True)
def quiet_libraries() -> None:
    from patchkit.lab import tiny

    tiny.go_offline()
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture
def train(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """`train("sft", patched=True, precision="bf16", env={...})`: the outcome of one training."""

    def run(
        trainer: str,
        *,
        patched: bool,
        env: dict[str, str] | None = None,
        arguments: list[str] | None = None,
        **options: object,
    ) -> dict[str, Any]:
        command = [sys.executable, "-m", "patchkit.lab", "--json", "--trainer", trainer]
        for name, value in options.items():
            text = json.dumps(value) if isinstance(value, dict) else str(value)
            command += [f"--{name.replace('_', '-')}", text]
        command += ["--patched"] if patched else []
        done = subprocess.run(
            [*command, *(arguments or [])],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            timeout=TRAIN_TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        outcome: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return outcome

    return run

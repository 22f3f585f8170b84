"""Trainings in processes of their own, on the real libraries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.matrix.lookup import installed_versions, look_up

TIMEOUT = 900


@pytest.fixture
def skip_if_measured_to_fail() -> Callable[[str], None]:
    """Skip where a patch's reproducer fails before the bug on exactly these versions."""

    def skip(patch_id: str) -> None:
        library = catalogue.load().entries[patch_id].patch.library
        found = look_up(patch_id, library, installed_versions([library]))
        if found.level == "combination" and "error" in found.outcomes:
            pytest.skip(f"the reproducer of {patch_id} cannot run on these versions, as measured")

    return skip


@pytest.fixture(scope="session", autouse=True)
def quiet_libraries() -> None:
    from patchkit.lab import tiny

    tiny.go_offline()
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture
def train(forks: Any, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """`train("sft", patched=True, precision="bf16", env={...})`: the outcome of one training."""

    def run(
        trainer: str,
        *,
        patched: bool,
        env: dict[str, str] | None = None,
        arguments: list[str] | None = None,
        **options: object,
    ) -> dict[str, Any]:
        line = ["--trainer", trainer]
        for name, value in options.items():
            text = json.dumps(value) if isinstance(value, dict) else str(value)
            line += [f"--{name.replace('_', '-')}", text]
        line += ["--patched"] if patched else []
        line += arguments or []
        if forks:
            status, stdout, stderr = forks.run(
                tmp_path, env or {}, argv=["-m", *line], module="patchkit.lab"
            )
        else:
            done = subprocess.run(
                [sys.executable, "-m", "patchkit.lab", *line],
                capture_output=True,
                text=True,
                cwd=tmp_path,
                env={**os.environ, **(env or {})},
                timeout=TIMEOUT,
                check=False,
            )
            status, stdout, stderr = done.returncode, done.stdout, done.stderr
        assert status == 0, stderr[-4000:]
        outcome: dict[str, Any] = json.loads(stdout.splitlines()[-1])
        return outcome

    return run

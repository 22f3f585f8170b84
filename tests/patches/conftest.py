"""Trainings and programs in processes of their own, on the real libraries.

Most are forks of one that has imported the libraries, since an import takes many times what a tiny
training does. Patches then meet libraries that are loaded already; `fresh` starts an interpreter.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

TIMEOUT = 900
FORKS = hasattr(os, "fork") and os.environ.get("PATCHKIT_TEST_PROCESSES") != "own"


@pytest.fixture(scope="session", autouse=True)
def quiet_libraries() -> None:
    from patchkit.lab import tiny

    tiny.go_offline()
    os.environ.setdefault("OMP_NUM_THREADS", "1")


class Forks:
    """A process that has imported the libraries, begun when a fork of it is first needed."""

    def __init__(self) -> None:
        self.server: subprocess.Popen[str] | None = None

    def run(self, folder: Path, env: dict[str, str], **program: Any) -> tuple[int, str, str]:
        """Return the exit status of a fork, its output and its errors."""
        if self.server is None:
            self.server = subprocess.Popen(
                [sys.executable, Path(__file__).with_name("forks.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        request = {"folder": str(folder), "env": {**os.environ, **env}, **program}
        alarm = threading.Timer(TIMEOUT, self.end)
        alarm.start()
        try:
            self.server.stdin.write(f"{json.dumps(request)}\n")
            self.server.stdin.flush()
            answer = self.server.stdout.readline()
        finally:
            alarm.cancel()
        if not answer:
            self.end()
            pytest.fail("the process that forks has died, or a fork took too long")
        stdout, stderr = (
            (folder / name).read_text(errors="replace") for name in ("stdout", "stderr")
        )
        return int(answer), stdout, stderr

    def end(self) -> None:
        """End the process and its fork."""
        server, self.server = self.server, None
        if server is not None:
            os.killpg(server.pid, signal.SIGKILL)
            server.communicate()


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    forks = Forks()
    yield forks
    forks.end()


@pytest.fixture
def forked(forks: Forks, tmp_path: Path, fresh: Callable[..., Any]) -> Callable[..., Any]:
    """Runs code like `fresh`, but in a fork of a process that has imported the libraries."""

    def run(code: str, *, env: dict[str, str] | None = None) -> Any:
        program = f"{textwrap.dedent(code)}\nimport json as _json\nresult = _json.dumps(result)\n"
        program += "print('\\n' + result)\n"
        status, stdout, stderr = forks.run(tmp_path, env or {}, argv=["-c"], code=program)
        assert status == 0, stderr[-4000:]
        return json.loads(stdout.splitlines()[-1])

    return run if FORKS else fresh


@pytest.fixture
def train(forks: Forks, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """`train("sft", patched=True, precision="bf16", env={...})`: the outcome of one training."""

    def run(
        trainer: str,
        *,
        patched: bool,
        env: dict[str, str] | None = None,
        arguments: list[str] | None = None,
        **options: object,
    ) -> dict[str, Any]:
        line = ["--json", "--trainer", trainer]
        for name, value in options.items():
            text = json.dumps(value) if isinstance(value, dict) else str(value)
            line += [f"--{name.replace('_', '-')}", text]
        line += ["--patched"] if patched else []
        line += arguments or []
        if FORKS:
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

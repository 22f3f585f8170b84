"""Runs programs in two processes on this machine's CPU."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TIMEOUT = 240


@pytest.fixture
def launch(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`launch("torch.distributed.run", "--nproc_per_node", "2", "--master_port={port}", …)`."""

    def run(module: str, *arguments: str, env: dict[str, str] | None = None):
        from patchkit.lab import tiny

        tiny.go_offline()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "-m", module, *(one.format(port=port) for one in arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})},
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(timeout=TIMEOUT)
        finally:
            # A rank that waits for one that died would outlive its launcher.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    return run

"""Runs programs in two processes on this machine's CPU."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def launch(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`launch("torch.distributed.run", "--nproc_per_node", "2", "--master_port={port}", …)`."""

    def run(module: str, *arguments: str, env: dict[str, str] | None = None):
        from patchkit.lab import tiny

        tiny.go_offline()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        return subprocess.run(
            [sys.executable, "-m", module, *(one.format(port=port) for one in arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})},
            timeout=300,
            check=False,
        )

    return run

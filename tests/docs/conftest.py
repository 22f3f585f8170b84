"""The site, built once for all tests of it, whatever process runs them."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site without a network: a proxy that does not answer stands for one."""
    nowhere = "http://127.0.0.1:9"
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=REPOSITORY,
        env={**os.environ, "http_proxy": nowhere, "https_proxy": nowhere, "all_proxy": nowhere},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material", reason="the site needs mkdocs-material")
    pytest.importorskip("mkdocstrings", reason="the site needs mkdocstrings-python")
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with open(shared / "site.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # whoever comes second waits for the first
        folder = shared / "site"
        if not folder.exists():
            unfinished = shared / "unfinished-site"
            done = build(unfinished)
            assert done.returncode == 0, done.stderr[-4000:]
            unfinished.rename(folder)
    return folder

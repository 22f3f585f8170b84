"""Ctrl-C while the process of a training starts ends that process, too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from patchkit.cli.demo import training


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
def test_the_child_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[str]] = []

    def interrupted_start(command: object, **options: Any) -> subprocess.Popen[str]:
        sleeping = [sys.executable, "-c", "import time; time.sleep(600)"]
        started.append(subprocess.Popen(sleeping, **options))
        signal.raise_signal(signal.SIGINT)
        return started[0]

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(training, "subprocess", _With(Popen=interrupted_start))
    try:
        with pytest.raises(KeyboardInterrupt):
            training.train_both({}, 1, tmp_path)
        assert started[0].wait(60) == -signal.SIGTERM
    finally:
        started[0].kill()
    assert signal.getsignal(signal.SIGINT) is before


class _With:
    """The module `subprocess`, with something else in it."""

    def __init__(self, **others: object) -> None:
        vars(self).update(others)

    def __getattr__(self, name: str) -> object:
        return getattr(subprocess, name)

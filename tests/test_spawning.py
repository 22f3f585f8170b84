"""Reproducers in processes of their own end with whoever waits for them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from patchkit.spawning import Spawning

SLOW = """\
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace

PATCH = Patch(
    id="madeup-slow", title="it is mended", affects={"madeup": ">=1"},
    changes=(Rewrite("madeup.trainer:f", Rule(Pattern("bug()"), lambda n: [replace(n, "1")])),),
)


def reproduce():
    import os, pathlib, time

    pathlib.Path("begun").write_text(str(os.getpid()))
    time.sleep(60)
"""


def begun(folder: Path) -> int:
    deadline = time.monotonic() + 60
    while not (folder / "begun").exists() or not (folder / "begun").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int((folder / "begun").read_text())


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
def test_an_interrupted_verify_leaves_no_process(library, tmp_path: Path) -> None:
    library.write("trainer", "def f():\n    return bug()\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "slow.py").write_text(SLOW)
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    with subprocess.Popen(
        [sys.executable, "-m", "patchkit", "verify", "madeup-slow", "--patches", "mine"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    ) as process:
        child = begun(tmp_path)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=20)
    assert (process.returncode, stdout, stderr) == (130, "", "Interrupted.\n")
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_nothing_is_begun_once_stopped() -> None:
    spawning = Spawning(60, "")
    spawning.stop()
    assert spawning("no-such-patch", False) == {"outcome": "error", "message": "stopped"}

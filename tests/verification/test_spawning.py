"""Reproducers in processes of their own, or in forks, end with whoever waits for them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from patchkit.errors import UsageError
from patchkit.verification import forking, verification
from patchkit.verification.forking import ForkRunner
from patchkit.verification.spawning import SpawnRunner

from ..processes import python_path

SLOW = """\
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace

PATCH = Patch(
    id="madeup-slow", title="it is fixed", affects={"madeup": ">=1"},
    changes=(Rewrite("madeup.trainer:f", Rule(Pattern("bug()"), lambda n: [replace(n, "1")])),),
)


def reproduce():
    import os, pathlib, time

    pathlib.Path("begun").write_text(str(os.getpid()))
    time.sleep(3600)
"""


PATIENCE = 300
"""Seconds; only what hangs takes as many, on the slowest machine."""


def begun(folder: Path) -> int:
    deadline = time.monotonic() + PATIENCE
    while not (folder / "begun").exists() or not (folder / "begun").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int((folder / "begun").read_text())


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
@pytest.mark.parametrize("options", [[], ["--fork"]], ids=["processes", "forks"])
def test_an_interrupted_verify_leaves_no_process(
    library, tmp_path: Path, options: list[str]
) -> None:
    library.write("trainer", "def f():\n    return bug()\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "slow.py").write_text(SLOW)
    with subprocess.Popen(
        [sys.executable, "-m", "patchkit", "verify", "madeup-slow", "--patches", "mine", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": python_path(tmp_path)},
    ) as process:
        child = begun(tmp_path)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=PATIENCE)
    assert (process.returncode, stdout) == (130, "")
    assert stderr.splitlines()[-1] == "Interrupted."
    assert "Traceback" not in stderr
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


@pytest.mark.parametrize("kind", [SpawnRunner, ForkRunner])
def test_nothing_is_begun_once_stopped(kind: type[SpawnRunner | ForkRunner]) -> None:
    reproduce = kind(60, "")
    reproduce.stop()
    assert reproduce("no-such-patch", False) == {"outcome": "error", "message": "stopped"}


@pytest.mark.parametrize("kind", [SpawnRunner, ForkRunner])
def test_one_that_takes_too_long(
    kind: type[SpawnRunner | ForkRunner], library, tmp_path: Path
) -> None:
    library.write("trainer", "def f():\n    return bug()\n")
    (tmp_path / "slow.py").write_text(SLOW.replace('"begun"', f'r"{tmp_path / "begun"}"'))
    seconds = 10
    if kind is ForkRunner:  # what waits for the imports is no reproducer
        assert ForkRunner(300, "")("no-such-patch", False)["outcome"] == "error"
        seconds = 4
    while not (tmp_path / "begun").exists():  # a slow machine needs more to begin
        assert seconds < PATIENCE
        reproduce = kind(seconds, str(tmp_path / "slow.py"))
        message = f"took more than {seconds} s"
        assert reproduce("madeup-slow", False) == {"outcome": "error", "message": message}
        if (tmp_path / "begun").exists():
            until_gone(begun(tmp_path))
        reproduce.stop()
        seconds *= 3


def until_gone(process: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_process_that_dies_says_so_to_all_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    program = [sys.executable, "-c", "import os; os.read(0, 1); os._exit(7)"]
    monkeypatch.setattr(forking, "command", lambda module, **options: program)
    reproduce = ForkRunner(60, "")
    message = "the fork server died with exit code 7"
    assert reproduce("no-such-patch", False) == {"outcome": "error", "message": message}
    reproduce.stop()


def test_where_nothing_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with pytest.raises(UsageError, match="leave out `fork`"):
        ForkRunner(60, "")


def test_nothing_is_forked_beside_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork of a process that has started CUDA cannot use it."""
    made: list[str] = []
    for name in ("ForkRunner", "SpawnRunner"):
        monkeypatch.setattr(verification, name, lambda *_, name=name: made.append(name))
    for gpu in (False, True):
        monkeypatch.setattr(verification, "may_have_cuda", lambda gpu=gpu: gpu)
        assert len(verification.verify("unsloth-*", fork=True)) == 1
    assert made == ["ForkRunner", "SpawnRunner"]

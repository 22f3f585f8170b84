"""`patchkit demo` on the real libraries: what it trains, tells and draws, and what Ctrl-C leaves."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from patchkit.cli.demo.text import summary

from ..patches.due import only_if_due

ID = "trl-adapter-bf16-cast"
due = only_if_due(ID)
CAN_DRAW = importlib.util.find_spec("matplotlib") is not None
BUILT = "patchkit-demo-*/causal-lm-*/model.safetensors"


@pytest.fixture
def demo(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts it in a session of its own, with an empty folder for temporary files."""
    (tmp_path / "temporary").mkdir()

    def start(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "patchkit", "demo", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(tmp_path / "temporary"), "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )

    return start


def dtypes(outcome: dict[str, Any]) -> dict[tuple[str, bool], list[str]]:
    return {(dtype["kind"], dtype["trained"]): list(dtype["dtypes"]) for dtype in outcome["dtypes"]}


IN_A_FORK = """
import runpy
import forks
forks.let_children_be_forks()
runpy.run_module("patchkit", run_name="__main__", alter_sys=True)
"""


@due
def test_fp16(demo, forks, tmp_path: Path) -> None:
    """Its two processes import nothing here; those that are interrupted below do."""
    arguments = ["--steps=2", "--json", *(["--plot", "loss.svg"] if CAN_DRAW else [])]
    if forks:
        env = {"TMPDIR": str(tmp_path / "temporary")}
        argv = ["-m", "demo", *arguments]
        status, stdout, stderr = forks.run(tmp_path, env, argv=argv, code=IN_A_FORK)
    else:
        process = demo(*arguments)
        stdout, stderr = process.communicate(timeout=240)
        status = process.returncode
    assert status == 0, stderr[-4000:]
    outcome = json.loads(stdout)
    without, fixed = outcome["without"], outcome["with"]
    assert (outcome["schema"], without["ok"], fixed["ok"]) == (1, False, True)
    assert "not implemented for 'BFloat16'" in without["error"]
    assert (without["steps_begun"], without["losses"]) == (1, [])
    assert (fixed["steps_begun"], len(fixed["losses"])) == (2, 2)
    frozen = {
        ("embedding", False): ["bfloat16"],
        ("4-bit weights stored in", False): ["uint8"],
        ("4-bit weights unpack to", False): ["bfloat16"],
        ("4-bit layers compute in", False): ["float16"],
        ("norms", False): ["bfloat16"],
        ("head", False): ["bfloat16"],
    }
    for shown, adapters in ((without, "bfloat16"), (fixed, "float32")):
        trained = {(f"LoRA {side}", True): [adapters] for side in "AB"}
        assert dtypes(shown) == {**trained, **frozen}
    assert list((tmp_path / "temporary").iterdir()) == []
    if CAN_DRAW:
        assert stderr == "drawn: loss.svg\n"
        drawn = (tmp_path / "loss.svg").read_text("utf-8")
        assert "without patchkit: died in step 1" in drawn
        assert "cell:LoRA A (trained):without patchkit:bfloat16" in drawn
        assert "cell:LoRA A (trained):with patchkit:float32" in drawn


@due
def test_bf16(train) -> None:
    setup = {"trainer": "sft", "precision": "bf16", "checkpoint": "bf16", "quantization": "4bit"}
    stdout = summary(
        *(train(patched=patched, steps=2, **setup) for patched in (False, True)), setup
    )
    said = " ".join(stdout.split())
    assert "without patchkit: trained trained tensors: 28 bfloat16" in said
    assert "with patchkit: trained trained tensors: 28 float32, 28 of them changed" in said
    assert stdout.count("loss by step: ") == 2


def children(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(
    ("whom", "ready"),
    [
        ("the group, as a terminal does", lambda folder: list(folder.glob(BUILT))),
        ("it alone", lambda folder: list(folder.glob("patchkit-demo-*"))),
    ],
)
def test_ctrl_c(demo, tmp_path: Path, whom: str, ready: Callable[[Path], Any]) -> None:
    process = demo("--steps=1000", "--precision=bf16", "--quantization=none")
    try:
        until(lambda: children(process.pid) and ready(tmp_path / "temporary"))
        (child,) = children(process.pid)
        (os.killpg if "group" in whom else os.kill)(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=240)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert stderr == "Interrupted.\n"
    assert "Traceback" not in stdout
    assert not is_alive(child)
    assert list((tmp_path / "temporary").iterdir()) == []


def until(condition: Callable[[], Any], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)

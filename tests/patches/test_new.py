"""`patchkit new` on a real library: from its installed source to a patch that holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TARGET = "trl.trainer.reward_trainer:RewardTrainer.__init__"
CAST = "param.data = param.data.to(torch.bfloat16)"
REPRODUCE = """
def reproduce() -> None:
    from patchkit.lab.reproduce import train_in_temporary_folder

    train_in_temporary_folder("reward", precision="fp16", quantization="4bit")
"""
# The test verifies in forks, of a process that imports the libraries for them: here, of the one that has.
RUN_TEST = """
import json, os, sys
import pytest
from patchkit.catalogue.folders import VARIABLE
from patchkit.verification import reproduce, verification

class Runner:
    def __init__(self, timeout, patches):
        self.patches = patches

    def __call__(self, patch_id, patched):
        read, write = os.pipe()
        if not os.fork():
            os.environ[VARIABLE] = self.patches
            os.write(write, json.dumps(reproduce.outcome(patch_id, patched=patched)).encode())
            os._exit(0)
        os.close(write)
        with open(read) as answer:
            return json.load(answer)

verification.ForkRunner = Runner
raise SystemExit(pytest.main(["-q", sys.argv[1]]))
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=900,
        check=False,
    )


def run_test(forks, folder: Path, file: str) -> tuple[int, str, str]:
    """In a fork, where there are any: the test itself imports TRL, and what it calls does so again."""
    if forks:
        env = {"PYTHONDONTWRITEBYTECODE": "1"}
        return forks.run(folder, env, argv=["-c", file], code=RUN_TEST)
    done = run(folder, "pytest", "-q", file)
    return done.returncode, done.stdout, done.stderr


def test_from_red_to_green(forks, tmp_path: Path) -> None:
    done = run(tmp_path, "patchkit", "new", "my-cast", "--target", TARGET, "--find", CAST)
    if "has no such code" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    file = tmp_path / "patches" / "my_cast.py"
    test = "patches/tests/test_my_cast.py"
    assert run_test(forks, tmp_path, test)[0] == 1

    text = file.read_text().partition("\ndef reproduce")[0] + REPRODUCE
    (raises,) = [line for line in text.splitlines(True) if "delete this line" in line]
    for before, after in (
        (raises, ""),
        (f'replace(site, "{CAST}")', 'replace(site, "pass")'),
        (
            "a regular expression for the error that reproduce() raises",
            "not implemented for 'BFloat16'",
        ),
    ):
        assert text.count(before) == 1, text
        text = text.replace(before, after)
    file.write_text(text)
    status, said, _ = run_test(forks, tmp_path, test)
    assert status == 0, said

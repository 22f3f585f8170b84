"""Commands that begin a patch, and the test that it begins with."""

from __future__ import annotations

from pathlib import Path

from ..processes import Done, run_python

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


def run(folder: Path, *arguments: str) -> Done:
    return run_python("-m", *arguments, folder=folder, PYTHONDONTWRITEBYTECODE="1")


def run_test(forks, folder: Path, file: str) -> tuple[int, str, str]:
    """In a fork, where there are any: the test itself imports TRL, and what it calls does so again."""
    if forks:
        env = {"PYTHONDONTWRITEBYTECODE": "1"}
        return forks.run(folder, env, argv=["-c", file], code=RUN_TEST)
    done = run(folder, "pytest", "-q", file)
    return done.returncode, done.stdout, done.stderr

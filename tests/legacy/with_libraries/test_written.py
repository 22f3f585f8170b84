"""The replacements give the results of TRL 0.13 and Transformers 4.47.1."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FORMER = Path(__file__).with_name("former.py")
MEASURED = Path(__file__).with_name("former.json")


def ask(folder: Path, *before: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *before, str(FORMER), str(folder)],
        capture_output=True,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        timeout=900,
        check=False,
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from patchkit.lab import tiny

    return Path(tiny.build_causal_lm(tmp_path_factory.mktemp("former") / "model"))


def test_without_the_layer_there_is_nothing_of_it(model: Path) -> None:
    done = ask(model)
    assert done.returncode
    assert "cannot import name 'AdamW'" in done.stderr


def test_with_it_all_is_as_it_was(model: Path) -> None:
    done = ask(model, "-m", "patchkit", "run", "--legacy", "--", sys.executable)
    assert not done.returncode, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == json.loads(MEASURED.read_text())

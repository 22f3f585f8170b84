"""The last word of a command whose framework changes the trainers of the real TRL, as ms-swift does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ..installed import distribution
from ..processes import python_path, run_python

pytest.importorskip("trl")

DELETES = "from trl import DPOTrainer as Theirs\ndel Theirs.__init__\n"
REPLACES = """
from trl import SFTTrainer

def __init__(self, *args, **kwargs):
    super(SFTTrainer, self).__init__()

SFTTrainer.__init__ = __init__
"""


# cli/run/test_last_word.py has the exit status with and without --strict, on a made-up library.
def test_trainers_that_a_framework_changes(tmp_path: Path) -> None:
    (tmp_path / "deletes.py").write_text(DELETES)
    (tmp_path / "replaces.py").write_text(REPLACES)
    distribution(tmp_path, "frame-work", "1.2", **{"top_level.txt": "deletes\nreplaces\n"})
    script = [sys.executable, "-c", "import deletes, replaces; print('trained')"]
    command = ("-m", "patchkit", "run", "--strict", "--", *script)
    done = run_python(*command, PYTHONPATH=python_path(tmp_path), OMP_NUM_THREADS="1")
    assert (done.returncode, done.stdout) == (78, "trained\n"), done.stderr
    heading, *lines = done.stderr[done.stderr.index("patchkit run: ") :].splitlines()
    assert " patches in force; " in heading
    whose = {line.partition(" afterwards")[0].strip() for line in lines}
    assert "DPOTrainer.__init__ deleted by deletes (frame-work 1.2)" in whose
    assert "SFTTrainer.__init__ replaced by replaces (frame-work 1.2)" in whose
    assert any("trl-adapter-bf16-cast" in line for line in lines)
    assert "patchkit run: status 78, as --strict asks" in lines

"""`python -m workbench ranks` trains for real: DDP and FSDP2, with a bug that patchkit fixes.

Ranks that a launcher has started, each in an interpreter of its own, have the same numbers.
"""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from ....patches.due import only_if_due
from ....processes import run_python

SCRIPT = str(Path(__file__).with_name("rank_script.py"))
LAUNCHER = "torchrun --nproc_per_node 2 --master_port {port}"
pytestmark = only_if_due("trl-adapter-bf16-cast")


@pytest.fixture(scope="module")
def cells(run_workbench, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the command says of each strategy."""
    folder: Path = tmp_path_factory.mktemp("ranks")
    arguments = ("--trainer", "sft", "--mode", "fp16-of-bf16/4bit", "--json")
    done = run_workbench("ranks", "ddp", "fsdp2", *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    return {cell["strategy"]: cell for cell in json.loads(done.stdout)["cells"]}


@pytest.mark.parametrize("strategy", ["ddp", "fsdp2"])
def test_what_patchkit_fixes(cells, strategy: str) -> None:
    cell = cells[strategy]
    assert cell["outcome"] == "fixed", cell
    assert cell["without"]["step"] == "step"
    assert "not implemented for 'BFloat16'" in cell["without"]["error"]
    figures = cell["with_patchkit"]["figures"]
    assert figures["trained"] == [{"float32": 28}] * 2
    first, second = figures["losses"]
    assert first != second  # each rank has its own rows
    norms, others = figures["gradient norms"]
    assert norms == others
    assert figures["distance after reload"] < 0.05


def test_a_launcher_makes_no_difference(cells, on_path, tmp_path: Path) -> None:
    """tests/distributed/test_run.py has ranks that `accelerate launch` has started."""
    from patchkit.lab import trainers

    folder = tmp_path / "saved"
    folder.mkdir()
    for dtype in ("bfloat16", "float16"):
        trainers.find("sft").checkpoint(tmp_path, dtype)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        launcher = LAUNCHER.format(port=free.getsockname()[1]).split()
    command = ["-m", "patchkit", "run", "--strict", "--", *launcher, SCRIPT, "fsdp2"]
    options = {"folder": tmp_path, "env": on_path, "OMP_NUM_THREADS": "1"}
    done = run_python(*command, tmp_path, folder, **options)
    assert done.returncode == 0, done.stderr[-4000:]
    assert len(re.findall(r"patchkit run: \d+ patches in force", done.stderr)) == 1
    expected = cells["fsdp2"]["with_patchkit"]["figures"]
    for rank in range(2):
        trial = json.loads((tmp_path / f"figures-{rank}.json").read_text())
        assert trial["error"] == ""
        figures = trial["figures"]
        assert figures == {name: expected[name][rank] for name in figures}

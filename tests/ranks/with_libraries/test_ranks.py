"""`patchkit ranks` trains for real: DDP and FSDP2, with a bug that patchkit mends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.catalogue.resolution import resolve

RESOLUTION = resolve(catalogue.load().entries["trl-adapter-bf16-cast"].patch)
pytestmark = pytest.mark.skipif(RESOLUTION.verdict is not None, reason=RESOLUTION.reason)


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the command says of each strategy."""
    folder: Path = tmp_path_factory.mktemp("ranks")
    arguments = ("--trainer", "sft", "--mode", "fp16-of-bf16/4bit", "--json")
    done = subprocess.run(
        [sys.executable, "-m", "patchkit", "ranks", "ddp", "fsdp2", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ},
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {cell["strategy"]: cell for cell in json.loads(done.stdout)["cells"]}


@pytest.mark.parametrize("strategy", ["ddp", "fsdp2"])
def test_what_patchkit_mends(cells, strategy: str) -> None:
    cell = cells[strategy]
    assert cell["outcome"] == "mended", cell
    assert cell["without"]["step"] == "step"
    assert "not implemented for 'BFloat16'" in cell["without"]["error"]
    figures = cell["with_patchkit"]["figures"]
    assert figures["trained"] == [{"float32": 28}] * 2
    first, second = figures["losses"]
    assert first != second  # each rank has its own rows
    norms, others = figures["gradient norms"]
    assert norms == others
    assert figures["distance after reload"] < 0.05

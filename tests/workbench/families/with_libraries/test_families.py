"""`python -m workbench families` on a few types: without patchkit and with it, and from where it stopped."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

TYPES = ("llama", "gemma3n_text")
MODES = ("--mode", "bf16/4bit", "--mode", "fp16/none")
MAY_BE_ABSENT = "bf16/hqq-4bit"
LIMIT = 0.01
"""GiB that are not enough for `longcat_flash` with its 10 million parameters, on any CPU."""


@pytest.fixture(scope="module")
def run(forked_workbench) -> Callable[..., subprocess.CompletedProcess[str]]:
    def call(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return forked_workbench("families", *arguments, "--output", "out.jsonl", folder=folder)

    return call


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("families")


@pytest.fixture(scope="module")
def cells(run, folder: Path) -> dict[tuple[str, ...], dict[str, Any]]:
    """What the command says of each cell."""
    done = run(folder, *TYPES, *MODES, "--mode", MAY_BE_ABSENT, "--json")
    assert done.returncode == 0, done.stderr
    return {
        (cell["type"], cell["mode"], cell["method"]): cell
        for cell in json.loads(done.stdout)["cells"]
    }


def test_what_works_is_the_same_to_the_last_digit(cells) -> None:
    cell = cells["llama", "fp16/none", "lora"]
    assert cell["outcome"] == "same"
    figures = cell["without"]["figures"]
    assert figures == cell["with_patchkit"]["figures"]
    assert figures["losses"][0] > figures["losses"][1]
    assert figures["changed"] == 28


def test_what_patchkit_fixes(cells) -> None:
    cell = cells["llama", "fp16/none", "full"]
    assert cell["outcome"] == "fixed"
    assert (cell["without"]["step"], cell["without"]["error"]) == (
        "step",
        "ValueError: Attempting to unscale FP16 gradients.",
    )


def test_gemma3n_trains_in_4_bit(cells) -> None:
    cell = cells["gemma3n_text", "bf16/4bit", "lora"]
    assert cell["outcome"] == "fixed"
    assert cell["without"]["step"] == "forward"
    assert "result type Float can't be cast" in cell["without"]["error"]


def test_a_run_continues_with_what_was_interrupted_or_could_not_be_built(
    run, folder: Path, cells
) -> None:
    tried = ("longcat_flash", "--mode", "bf16/4bit", "--method", "lora", "--json")
    done = run(folder, *tried, "--memory", str(LIMIT))
    assert done.returncode == 0, done.stderr
    error = f"needs more than {LIMIT} GiB"
    unbuilt = [{"task": "causal", "type": "longcat_flash", "error": error, "reason": ""}]
    assert json.loads(done.stdout)["unbuilt"] == unbuilt

    file = folder / "out.jsonl"
    whole = file.read_text().splitlines(keepends=True)
    (last,) = [
        number
        for number, line in enumerate(whole)
        if '"llama"' in line and '"fp16/none"' in line and '"lora"' in line and "true" in line
    ]
    kept = [line for number, line in enumerate(whole) if number != last]
    file.write_text("".join(kept) + whole[last][:50])
    done = run(folder, "llama", "longcat_flash", *MODES, "--method", "lora", "--json")
    assert done.returncode == 0, done.stderr
    lines = file.read_text().splitlines(keepends=True)
    assert lines[: len(kept)] == kept
    # The torn line, and what it should have been.
    _, *added = lines[len(kept) :]
    (again,) = [line for line in added if '"llama"' in line]

    def without_time(line: str) -> dict[str, Any]:
        record = json.loads(line)
        del record["trial"]["seconds"]
        return record

    assert without_time(again) == without_time(whole[last])
    found = json.loads(done.stdout)
    assert not found["unbuilt"]
    assert "longcat_flash" in {cell["type"] for cell in found["cells"]}


def test_a_quantizer_that_may_not_be_installed(cells) -> None:
    """A missing library is said, and is no failure."""
    (cell,) = (cells[name] for name in cells if name[:2] == ("llama", MAY_BE_ABSENT))
    if find_spec("hqq") is None:
        assert (cell["outcome"], cell["note"]) == ("untried", "not installed: hqq")
        return
    assert cell["outcome"] == "same"
    assert cell["without"]["figures"]["dtypes"] == {
        "adapted layers": ["bfloat16"],
        "base layers": ["bfloat16"],
    }

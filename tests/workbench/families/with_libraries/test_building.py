"""Tiny models of types whose configurations ask for something, built with the real library."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

INPUTS = {
    ("causal", "llama"): "text",
    ("causal", "zamba2"): "text",  # has a row of its own
    ("causal", "deepseek_v2"): "text",  # lacks a size that it reads
    ("causal", "git"): "image and text",  # has no loss of words alone
    ("classification", "t5"): "text",  # lacks a token that it reads
    ("vision", "llava"): "image and text",
    ("vision", "llava_next"): "image and text",  # takes tiles
    ("vision", "qwen2_5_vl"): "image and text",  # takes patches, in a second shape
    ("vision", "florence2"): "image and text",  # has an encoder and a decoder
}
BUILD = """
import json, pathlib, sys
import transformers
from workbench.families.building import build
for task, name in json.loads(sys.argv[1]):
    if name in transformers.CONFIG_MAPPING:
        folder = pathlib.Path(name)
        folder.mkdir()
        built = build(task, name, str(folder), 0)
        print(json.dumps([task, name, built, (folder / "bfloat16/config.json").exists()]))
"""


@pytest.fixture(scope="module")
def builds(
    on_path, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], tuple[Any, bool]]:
    """What came of each type that is installed, and whether it was saved."""
    pytest.importorskip("transformers")
    done = subprocess.run(
        [sys.executable, "-c", BUILD, json.dumps(list(INPUTS))],
        cwd=tmp_path_factory.mktemp("builds"),
        env=on_path,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))
    return {(task, name): (built, saved) for task, name, built, saved in lines}


@pytest.mark.parametrize(("task", "name"), INPUTS)
def test_a_tiny_model_is_built(task: str, name: str, builds) -> None:
    if (task, name) not in builds:
        pytest.skip(f"this Transformers has no {name}")
    built, saved = builds[task, name]
    assert built.get("error", "") == ""
    assert built["inputs"] == INPUTS[task, name]
    assert built["parameters"] < 20_000_000
    assert saved

"""Tiny models of types whose configurations ask for something, built with the real library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BUILD = """
import json, sys
from patchkit.lab.families.building import build
print(json.dumps(build(*sys.argv[1:], memory=0)))
"""


@pytest.mark.parametrize(
    ("task", "name", "inputs"),
    [
        ("causal", "llama", "text"),
        ("causal", "zamba2", "text"),  # has a row of its own
        ("causal", "deepseek_v2", "text"),  # lacks a size that it reads
        ("causal", "git", "image and text"),  # has no loss of words alone
        ("classification", "t5", "text"),  # lacks a token that it reads
        ("vision", "llava", "image and text"),
        ("vision", "llava_next", "image and text"),  # takes tiles
        ("vision", "qwen2_5_vl", "image and text"),  # takes patches, in a second shape
        ("vision", "florence2", "image and text"),  # has an encoder and a decoder
    ],
)
def test_a_tiny_model_is_built(task: str, name: str, inputs: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    if name not in transformers.CONFIG_MAPPING:
        pytest.skip(f"this Transformers has no {name}")
    done = subprocess.run(
        [sys.executable, "-c", BUILD, task, name, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    built = json.loads(done.stdout.splitlines()[-1])
    assert "error" not in built
    assert built["inputs"] == inputs
    assert built["parameters"] < 20_000_000
    assert (tmp_path / "bfloat16" / "config.json").exists()

"""docs/limits.md: beside other versions of PyTorch every patch that is due was run, and fixes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from patchkit.catalogue import entries
from patchkit.environment import in_range
from patchkit.patch import Patch

FILE = Path(__file__).parents[2] / "compat_matrix.yaml"
USUAL = "2.13.0"
CANNOT_BE_IMPORTED = {("nemo-automodel-lora-input-dtype", "2.15.0")}


def _is_due(patch: Patch, versions: dict[str, str]) -> bool:
    return not patch.opt_in and all(
        name in versions and in_range(versions[name], range_)
        for name, range_ in patch.affects.items()
    )


def _runs() -> list[dict[str, Any]]:
    if not FILE.exists():
        pytest.skip("a source distribution may be without it")
    runs: list[dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["runs"]
    return [run for run in runs if not run["versions"].get("torch", USUAL).startswith(USUAL)]


def test_what_is_due_was_run_and_fixed() -> None:
    missing = {
        (entry.patch.id, run["versions"]["torch"])
        for run in _runs()
        for entry in entries.load()
        if _is_due(entry.patch, run["versions"]) and run["outcomes"].get(entry.patch.id) != "fixed"
    }
    assert missing - CANNOT_BE_IMPORTED == set()

"""docs/limits.md: beside other versions of PyTorch every patch that is due was run, and fixes."""

from __future__ import annotations

from pathlib import Path

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


def _sets() -> list[tuple[dict[str, str], dict[str, str]]]:
    """Return versions, and the outcomes of all days on them."""
    if not FILE.exists():
        pytest.skip("a source distribution may be without it")
    outcomes: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
    for run in yaml.safe_load(FILE.read_text(encoding="utf-8"))["runs"]:
        if not run["versions"].get("torch", USUAL).startswith(USUAL):
            outcomes.setdefault(tuple(run["versions"].items()), {}).update(run["outcomes"])
    return [(dict(versions), found) for versions, found in outcomes.items()]


def test_what_is_due_was_run_and_fixed() -> None:
    missing = {
        (entry.patch.id, versions["torch"])
        for versions, outcomes in _sets()
        for entry in entries.load()
        if _is_due(entry.patch, versions) and outcomes.get(entry.patch.id) != "fixed"
    }
    assert missing - CANNOT_BE_IMPORTED == set()

"""A script is started plainly and with patchkit, and its trainings are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.families import modes
from workbench.frameworks.records import FrameworkJournal
from workbench.frameworks.results import results
from workbench.frameworks.sweep import FrameworkSelection, sweep

pytest.importorskip("transformers")


def test_a_training_that_dies_in_fp16_and_trains_with_patchkit(tmp_path: Path) -> None:
    selection = FrameworkSelection.of(
        ("transformers",), None, ("clm",), modes.select(("fp16-of-bf16/none",)), ("run",)
    )
    journal = FrameworkJournal(tmp_path / "kept.jsonl")
    sweep(selection, journal, seconds=300)
    (verdict,) = results([FrameworkJournal(tmp_path / "kept.jsonl")], selection).verdicts
    assert verdict.without.step == "training"
    assert verdict.with_patchkit.worked, verdict.with_patchkit.error
    figures = verdict.with_patchkit.figures
    assert (len(figures["losses"]), len(figures["grad_norms"])) == (3, 3)
    assert set(figures["dtypes"]) == {"float32"}

"""Sets of versions that are recommended to scripts that need what is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from patchkit.legacy.changes import Gone
from patchkit.legacy.rows import all_rows
from patchkit.legacy.versions.version_sets import SETS, advice, install, set_before

FILES = Path(__file__).parents[2] / "version_sets"


def _pins(path: Path) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line and not line.startswith("torch==")]


def test_each_set_is_in_a_file() -> None:
    files = [_pins(path) for path in (*FILES.glob("*.txt"), *FILES.glob("eras/*.txt"))]
    for known in SETS:
        assert known.split() in files


def test_sets_are_in_order() -> None:
    from packaging.version import Version

    releases = [Version(known.split()[0].partition("==")[2]) for known in SETS]
    assert releases == sorted(releases)


def test_newest_that_is_old_enough() -> None:
    assert set_before("trl 0.12.0").startswith("trl==0.11.4 transformers==4.44.2 ")
    assert set_before("trl 0.12.1").startswith("trl==0.12.0 ")
    assert set_before("peft 0.10.0").startswith("trl==0.7.11 ")
    assert set_before("trl 0.7.0") == ""
    command = install("trl 0.12.0", also="diffusers")
    assert command.startswith("pip install trl==0.11.4 transformers==4.44.2 ")
    assert " numpy==1.26.4 " in command
    assert command.endswith(" diffusers")
    assert install("trl 0.7.0") == ""


@pytest.mark.parametrize(
    "row", [row for row in all_rows() if isinstance(row, Gone)], ids=lambda r: r.name
)
def test_each_name_that_is_gone_has_a_set(row: Gone) -> None:
    sentence = advice(row)
    assert sentence.startswith("Versions that have it: ")
    assert "pip install " in sentence
    assert "\n" not in row.instead
    assert row.instead.endswith(".")


def test_two_forms_of_a_name() -> None:
    trainer = next(
        row for row in all_rows() if isinstance(row, Gone) and row.name == "trl.PPOTrainer"
    )
    sentence = advice(trainer)
    assert "with value heads and step(): pip install trl==0.11.4 " in sentence
    assert "with value_model= and train(): pip install trl==0.28.0 " in sentence

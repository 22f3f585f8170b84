"""Sets of versions that are recommended to scripts that need what is gone."""

from __future__ import annotations

import re

import pytest
from packaging.version import Version

from patchkit.legacy.changes import Gone
from patchkit.legacy.rows import all_rows
from patchkit.legacy.versions.version_sets import FILE, advice, install, set_before, sets
from workbench.releases.sets import FOLDER, recommended, text


def test_sets_are_those_of_the_files() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run python -m workbench sets"
    assert sets() == tuple(recommended())


def test_the_newest_set_and_those_of_other_libraries_are_not_recommended(tmp_path) -> None:
    (tmp_path / "eras").mkdir()
    for name, pins in {
        "1.10": "trl==1.10.0\ntorch==2.13.0\n",
        "1.9": "trl==1.9.2  # then\n\npeft==0.20.0\n",
        "torch2.6": "trl==1.10.0\n",
        "eras/1.9": "trl==1.9.0\n",
        "eras/0.7": "trl==0.7.11\n",
        "eras/beside": "rich==15.0.0\n",
    }.items():
        (tmp_path / f"{name}.txt").write_text(pins)
    assert list(recommended(tmp_path)) == ["trl==0.7.11", "trl==1.9.2 peft==0.20.0"]
    assert len(sets()) == len(list(recommended(FOLDER))) >= 28


def test_sets_are_in_order() -> None:
    from packaging.version import Version

    releases = [Version(known.split()[0].partition("==")[2]) for known in sets()]
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
    library, _, gone = row.gone.partition(" ")
    pins = re.findall(rf"^.*\b{library}==([\w.]+)", FILE.read_text(encoding="utf-8"), re.MULTILINE)
    sentence = advice(row)
    if any(Version(pin) < Version(gone) for pin in pins) or row.forms:
        assert sentence.startswith("Versions that have it: ")
        assert "pip install " in sentence
    else:
        assert not sentence  # it left before all sets, or with a library that they leave to pip
    assert "\n" not in row.instead
    assert row.instead.endswith(".")


def test_two_forms_of_a_name() -> None:
    trainer = next(
        row for row in all_rows() if isinstance(row, Gone) and row.name == "trl.PPOTrainer"
    )
    sentence = advice(trainer)
    assert "with value heads and step(): pip install trl==0.11.4 " in sentence
    assert "with value_model= and train(): pip install trl==0.28.0 " in sentence

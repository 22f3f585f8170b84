"""Outputs that the pages show, held against the catalogue: the versions that doctor.md names have these bugs."""

from __future__ import annotations

import re
from pathlib import Path

from packaging.specifiers import SpecifierSet

from patchkit.catalogue import entries as catalogue

DOCS = Path(__file__).parents[2] / "docs"
DOCTOR = (DOCS / "doctor.md").read_text(encoding="utf-8")


def test_the_number_of_bugs() -> None:
    _, _, step = DOCTOR.partition(" bugs of the installed libraries (")
    installed = dict(re.findall(r"([a-z]+) ([\d.]+\d)", step.partition(")")[0]))
    assert len(installed) == 5
    due = [
        entry.patch.id
        for entry in catalogue.load()
        if not entry.patch.opt_in
        and all(
            name in installed and installed[name] in SpecifierSet(versions)
            for name, versions in entry.patch.affects.items()
        )
    ]
    assert f"patchkit mends {len(due)} bugs" in DOCTOR
    assert f"0 applied, {len(due)} pending" in (DOCS / "pytest.md").read_text(encoding="utf-8")

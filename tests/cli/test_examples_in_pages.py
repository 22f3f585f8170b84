"""Numbers that the pages show: the versions that doctor.md names have these bugs, so many were run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from patchkit.catalogue import entries as catalogue

DOCS = Path(__file__).parents[2] / "docs"
MATRIX = DOCS.parent / "compat_matrix.yaml"
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
    assert f"patchkit fixes {len(due)} bugs" in DOCTOR
    assert f"0 applied, {len(due)} pending" in (DOCS / "pytest.md").read_text(encoding="utf-8")
    assert f": {len(due)} pending, 2 not-installed" in (DOCS / "launchers.md").read_text("utf-8")


@pytest.mark.parametrize("page", ["README.md", "docs/limits.md"])
def test_the_number_of_sets(page: str) -> None:
    """As many as `patchkit matrix show --by set` has."""
    if not MATRIX.exists():
        pytest.skip("a source distribution may be without it")
    runs = yaml.safe_load(MATRIX.read_text(encoding="utf-8"))["runs"]
    sets = {(run["device"], *sorted(run["versions"].items())) for run in runs}
    assert f" {len(sets)} sets of versions" in (DOCS.parent / page).read_text(encoding="utf-8")

"""Tables of the pages have a row for each thing that there is, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from patchkit.catalogue import entries
from patchkit.inspection import superseding_patches
from patchkit.inspection.findings import rows
from patchkit.matrix.outcome_table import OUTCOMES, STATES
from patchkit.matrix.show.states import WORST_FIRST
from patchkit.patch import Status

ROOT = Path(__file__).parents[2]


def _page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _first_cells(page: str, heading: str) -> list[str]:
    """Return what stands in backticks in the first column of the table with this heading."""
    _, found, rest = _page(page).partition(f"\n| {heading} |")
    assert found
    rows = re.findall(r"^\| (.*?) \|", rest.partition("\n\n")[0], re.MULTILINE)
    return [cell for row in rows for cell in re.findall(r"`([^`]+)`", row)]


def test_each_patch_that_fixes_is_in_the_readme() -> None:
    fixing = [entry.patch.id for entry in entries.load() if entry.patch.opt_in != "preflight"]
    assert sorted(_first_cells("README.md", "patch")) == sorted(fixing)


def test_the_statuses() -> None:
    assert sorted(_first_cells("README.md", "status")) == sorted(map(str, Status))


def test_the_outcomes_and_the_states() -> None:
    assert sorted(_first_cells("docs/matrix.md", "outcome")) == sorted(OUTCOMES)
    assert sorted(_first_cells("docs/matrix.md", "state")) == sorted(STATES)


def test_the_glyphs_and_their_order() -> None:
    order = [state.glyph for state in WORST_FIRST]
    assert sorted(_first_cells("docs/matrix.md", "glyph")) == sorted(order)
    assert f"in the order `{' '.join(order)}`" in _page("docs/matrix.md")


def test_no_finding_is_documented_that_there_is_not() -> None:
    documented = set(_first_cells("docs/preflight.md", "finding"))
    assert documented <= {name.partition(" ")[0] for name in rows()}


def test_the_patches_that_make_findings_moot() -> None:
    rows = [line for line in _page("docs/preflight.md").splitlines() if line.startswith("| `")]
    named = set(
        re.findall(r"`((?:trl|peft|transformers|accelerate|bitsandbytes)-[\w-]+)`", "".join(rows))
    )
    known = {value for name, value in vars(superseding_patches).items() if name.isupper()}
    assert named == known

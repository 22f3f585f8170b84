"""docs/architecture.md: it is short, its files exist, and its flows go as calls do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .. import flows

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_it_can_be_read_in_one_go() -> None:
    assert len(TEXT.splitlines()) <= 150


def test_the_files_that_it_names_exist() -> None:
    named = set(re.findall(r"`((?:patchkit|patches|workbench)/[\w/]+\.\w+)`", TEXT))
    assert len(named) > 25
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize(
    ("heading", "number"), [("A patch,", 18), ("`legacy=True`", 12), ("`patchkit m", 10)]
)
def test_a_flow_has_steps(heading: str, number: int) -> None:
    assert len(flows.steps(heading)) == number


def test_modernize_goes_through_these_files(tmp_path: Path) -> None:
    pytest.importorskip("libcst")
    script = tmp_path / "old.py"
    script.write_text("from trl import SFTConfig\n\nargs = SFTConfig(max_seq_length=512)\n")
    calls = flows.calls_of(
        f"""
        from patchkit.cli.commands import main
        main(["modernize", "--write", {str(script)!r}], standalone_mode=False)
        """,
        tmp_path,
    )
    assert "max_length=512" in script.read_text()
    flows.check("`patchkit modernize PATH`", calls)

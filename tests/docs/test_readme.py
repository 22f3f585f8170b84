"""The first screen of the README: what somebody with a crash meets first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from patchkit.about import DISTRIBUTION, __version__
from patchkit.catalogue import entries
from patchkit.known.answering import answered, entries_with_message, entries_with_symptom
from patchkit.known.choosing import SHORTEST
from patchkit.known.reading import read

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
ERRORS = BLOCKS[0][1].splitlines()


@pytest.mark.parametrize("error", ERRORS)
def test_a_patch_or_the_table_knows_each_crash(error: str) -> None:
    found = answered(read(error), lambda _: None)
    by_rows = any(
        answer.patches or "has been gone since" in answer.cause for answer in found.answers
    )
    assert by_rows or entries_with_message(read(error), entries.load())


def test_it_opens_with_two_commands_that_do_all_set_up() -> None:
    demo, tests = next(text for kind, text in BLOCKS if kind == "console").splitlines()
    assert demo.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    assert demo.endswith(" && .venv/bin/python -m patchkit demo")
    for word in ("-c constraints.txt", "'.[train]'"):
        assert word in demo
    assert tests == "./test.sh"
    assert (ROOT / "test.sh").stat().st_mode & 0o111


def test_install_is_a_heading_with_a_line_for_pip_and_for_uv() -> None:
    _, _, section = TEXT.partition("\n## Install\n")
    section = section.partition("\n## ")[0]
    assert f"\npip install '{DISTRIBUTION} @ git+https://ADDRESS'" in section
    assert f"\nuv pip install '{DISTRIBUTION} @ git+https://ADDRESS'" in section
    assert f"{DISTRIBUTION.replace('-', '_')}-{__version__}-py3-none-any.whl" in section
    assert "\npatchkit.apply()" in section
    assert "\npatchkit run -- " in section
    assert f"\npatchkit {__version__}: " in section


def test_words_of_ours_are_explained_before_they_are_used() -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", TEXT, flags=re.DOTALL)
    before, explained, _ = prose.partition(
        "A patch is *due* if the installed versions have its bug."
    )
    assert explained
    assert not re.search(r"\b(due|sites?|fixed)\b", before)


def _may_be_searched_for(part: str) -> bool:
    return len(part.strip()) >= SHORTEST and " " in part.strip()


ROWS = re.findall(r"^\| `([a-z0-9-]+)` \| (.+) \|$", TEXT, re.MULTILINE)
SHOWN = [
    (name, span)
    for name, symptom in ROWS
    for span in re.findall(r"`([^`]+)`", symptom)
    # An error has words; `eval_loss: inf` is a line of a log.
    if any(map(_may_be_searched_for, span.split("…"))) and "eval_loss" not in span
]


@pytest.mark.parametrize(("name", "error"), SHOWN)
def test_explain_finds_the_patch_by_the_error_in_its_row(name: str, error: str) -> None:
    found = {
        entry.patch.id
        for part in filter(_may_be_searched_for, error.split("…"))
        for entry in entries_with_symptom(read(part.strip()), entries.load())
    }
    assert name in found


def test_rows_have_errors() -> None:
    assert len(SHOWN) > len(ROWS) / 3

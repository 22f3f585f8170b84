"""What patchkit says itself, pasted back without a traceback: each refusal and note has its row."""

from __future__ import annotations

import pytest

from patchkit.known.answering import answered
from patchkit.known.reading import read
from patchkit.legacy.changes import Gone, Keyword, Moved
from patchkit.legacy.decisions import decide
from patchkit.legacy.explanation import described, short_name
from patchkit.legacy.places import FoundName
from patchkit.legacy.rows import all_rows
from patchkit.legacy.versions.version_sets import advice
from patchkit.legacy.wording import since

NAMES = [row for row in all_rows() if isinstance(row, Moved | Gone)]
KEYWORDS = [row for row in all_rows() if isinstance(row, Keyword) and described(row) is not None]


@pytest.mark.parametrize("row", NAMES[::7], ids=lambda row: row.name)
def test_a_name(row: Moved | Gone) -> None:
    text = f"{FoundName(row, getattr(row, 'to', ''))} {advice(row)}".strip()
    refused = isinstance(row, Gone)
    words = "patchkit.legacy.errors.GoneError: " if refused else "patchkit: "
    answer = answered(read(f"{words}train.py:3: {text}"), lambda _: None).answers[0]
    assert answer.id == row.name
    assert row.address in answer.links
    assert answer.do.endswith("refuses it." if refused else "has done so for this run.")
    assert all(written.startswith("pip install ") or ":" in written for written in answer.write)


@pytest.mark.parametrize("row", KEYWORDS[::7], ids=lambda row: f"{row.owners[0]}-{row.name}")
def test_a_keyword(row: Keyword) -> None:
    decision = decide(row)
    old = f"{short_name(row.owners[0])}({row.name}=True)"
    refused = bool(decision.refusal)
    said = f". {decision.refusal}" if refused else f"; {decision.advice}"
    answer = answered(read(f"train.py:31: {old} {since(row)}{said}"), lambda _: None).answers[0]
    assert answer.id == old
    assert answer.links or old.startswith("_")  # a base class, which no script calls
    assert answer.do.endswith("refuses it." if refused else "has done so for this run.")

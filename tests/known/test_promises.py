"""What the pages and the rows promise: every wording is found, and what a row names is there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from patchkit.catalogue import entries
from patchkit.known.answering import answered, entries_with_symptom
from patchkit.known.reading import read
from patchkit.known.rows import FOLDER, Row, all_rows
from patchkit.known.wordings import wording

DOCS = Path(__file__).resolve().parents[2] / "docs"
ROWS = all_rows()


def findings() -> set[str]:
    page = (DOCS / "preflight.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    return set(re.findall(r"`([a-z0-9-]+)`", " ".join(rows)))


def messages_of_the_page() -> list[str]:
    page = (DOCS / "errors.md").read_text(encoding="utf-8")
    cells = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    return [message for cell in cells for message in re.findall(r"`([^`]{12,})`", cell)]


@pytest.mark.parametrize("message", messages_of_the_page())
def test_each_wording_of_the_page_of_errors(message: str) -> None:
    assert answered(read(message), lambda _: None).answers


@pytest.mark.parametrize(
    "message",
    sorted({message for entry in entries.load() for message in entry.patch.messages}),
)
def test_each_message_of_a_patch(message: str) -> None:
    found = answered(read(f"RuntimeError: {message}"), lambda _: None)
    assert found.answers or entries_with_symptom(message, entries.load())


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_a_row(row: Row) -> None:
    for said in row.says:
        assert wording(said).literals, "a wording of holes alone is found everywhere"
        re.compile(wording(said).pattern())
    for word in row.near:
        re.compile(word)
    holes = {name for said in row.says for name in re.findall(r"\{\w+:(\w+)\}", said)}
    used = re.findall(r"\{(\w+)(\|[^{}]*)?\}", " ".join((row.cause, row.do, row.whose, *row.write)))
    for name, otherwise in used:
        if name == "since" and row.since is not None:
            continue
        assert name in holes
        everywhere = all(f":{name}}}" in said for said in row.says)
        assert otherwise or everywhere, f"{{{name}}} needs words for wordings without it"
    assert set(row.patches) <= set(entries.load().entries)
    assert set(row.preflight) <= findings()
    assert row.cause.endswith(".")
    assert row.do.endswith(".")
    for link in row.links:
        assert link.startswith("https://")
    for versions in row.versions.values():
        from packaging.specifiers import SpecifierSet

        assert SpecifierSet(versions)


def test_each_row_has_its_own_name() -> None:
    names = [row.id for row in ROWS]
    assert len(names) == len(set(names))


def test_rows_are_json_that_javascript_reads() -> None:
    for file in FOLDER.glob("*.json"):
        assert json.loads(file.read_text(encoding="utf-8"))

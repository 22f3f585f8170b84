"""What each rule of each patch makes of the code that it is for, in every spelling known.

A row of `*.txt` is a name, `=== ID: the spelling`, the code before, a line `---`, and the code after;
where a rule is to leave code alone, `--- nothing` ends the row. Rows have the shape of upstream's code,
and no more of it than the rule looks at. `<module:name>` stands for the expression that fetches a
helper.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Rule, edited_code, functions_in_file
from patchkit.rewrite.edit import apply_edits

PATCHES = {entry.patch.id: entry.patch for entry in catalogue.load()}
FETCHED = re.compile(r"__import__\('([\w.]+)', fromlist=\('(\w+)',\)\)\.\2")


class Row(NamedTuple):
    name: str
    before: str
    after: str | None

    @property
    def patch(self) -> Patch:
        return PATCHES[self.name.partition(":")[0]]


def read(text: str) -> Iterator[Row]:
    for part in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        name, _, code = part.partition("\n")
        before, divider, after = re.split(r"^(---.*)\n", code, flags=re.MULTILINE)
        yield Row(name, before, None if divider == "--- nothing" else after.rstrip() + "\n")


ROWS = [
    row
    for file in sorted(Path(__file__).parent.glob("*.txt"))
    for row in read(file.read_text(encoding="utf-8"))
]


def rules(patch: Patch) -> list[Rule]:
    found = {
        id(change.rule): change.rule for change in patch.changes if isinstance(change, Rewrite)
    }
    return list(found.values())


def edited(row: Row) -> list[tuple[Rule, str]]:
    """Each rule of the row's patch that finds something there, and the whole text as it leaves it."""
    results = []
    for rule in rules(row.patch):
        for source in functions_in_file(row.before, "before.py"):
            edits = [edit for site in rule.plan(source) for edit in site]
            if edits and rule.may_concern(source.code):
                assert edited_code(source, edits, [rule], "after.py")
                text = "".join(apply_edits(source.lines, edits))
                results.append((rule, FETCHED.sub(r"<\1:\2>", text)))
    return results


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(row: Row) -> None:
    assert [text for _, text in edited(row)] == ([] if row.after is None else [row.after])


@pytest.mark.parametrize("patch", PATCHES.values(), ids=lambda patch: patch.id)
def test_every_rule_is_in_the_table(patch: Patch) -> None:
    shown = [rule for row in ROWS if row.patch is patch for rule, _ in edited(row)]
    assert all(any(rule is known for known in shown) for rule in rules(patch))


def test_each_spelling_stands_once() -> None:
    spellings = [(row.patch.id, row.before) for row in ROWS]
    assert len(set(spellings)) == len(spellings)
    assert len({row.name for row in ROWS}) == len(ROWS)

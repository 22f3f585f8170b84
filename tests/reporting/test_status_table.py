"""All that is said of a status or an outcome stands in one table, and nothing else lists them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import patchkit
from patchkit.matrix import outcome_table
from patchkit.matrix.show import states
from patchkit.patch import Status
from patchkit.reporting import status

ROOT = Path(patchkit.__file__).parent
FILES = sorted(file for file in ROOT.rglob("*.py") if "patches" not in file.relative_to(ROOT).parts)
STATUSES = {found.value for found in Status}
OUTCOMES = {*outcome_table.OUTCOMES, *outcome_table.STATES}
MOST = 2
"""A choice between two statuses is a condition; more of them are a list to keep."""
TABLE_OF = {"reporting/status.py": STATUSES, "matrix/outcome_table.py": OUTCOMES}


def test_each_status_has_its_row() -> None:
    assert {row.status for row in status.TABLE} == set(Status)
    assert len(status.TABLE) == len(Status) == len(status.ROWS)


def test_each_row_says_what_the_status_says() -> None:
    """The documentation has what stands below the member, the program what stands in the row."""
    (cls,) = ast.parse(inspect.getsource(Status)).body
    assert isinstance(cls, ast.ClassDef)
    said = {
        getattr(Status, member.targets[0].id): text.value.value
        for member, text in zip(cls.body, cls.body[1:], strict=False)
        if isinstance(member, ast.Assign)
    }
    assert said == {row.status: row.meaning for row in status.TABLE}


@pytest.mark.parametrize("row", status.TABLE, ids=lambda row: row.status.value)
def test_a_row_agrees_with_itself(row: status.StatusRow) -> None:
    assert not (row.due and row.trouble)
    assert bool(row.style) == bool(row.tint) == (row.due or row.trouble)
    assert row.meaning.endswith(".")
    assert len(row.mark[0]) == 1


def test_the_order() -> None:
    assert [found.value for found in status.TROUBLE] == ["failed", "drifted", "overridden"]
    assert [found.value for found in status.DUE] == ["applied", "pending", "available"]
    assert [status.rank(row.status) for row in status.TABLE] == list(range(len(Status)))
    assert status.worst([Status.PENDING, Status.DRIFTED, Status.APPLIED]) is Status.DRIFTED
    assert status.worst([]) is status.worst([Status.NOT_AFFECTED]) is Status.PENDING


@pytest.mark.parametrize("outcome", outcome_table.OUTCOME_TABLE, ids=lambda row: row.name)
def test_an_outcome_agrees_with_itself(outcome: outcome_table.RunOutcome) -> None:
    assert states.OF_OUTCOME[outcome.name].name == outcome.cell
    assert not outcome.exit_status or outcome.due


def test_outcomes_have_names_of_their_own() -> None:
    assert len(outcome_table.OUTCOMES) == len(outcome_table.OUTCOME_TABLE)
    assert len(outcome_table.STATES) == len(outcome_table.SCAN_TABLE)


def listed(tree: ast.AST, names: set[str]) -> Iterator[tuple[int, set[str]]]:
    """Yield the lines with a collection or a call of more than two of these names."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Set, ast.List, ast.Tuple)):
            parts = node.elts
        elif isinstance(node, ast.Dict):
            parts = [part for part in (*node.keys, *node.values) if part]
        elif isinstance(node, ast.Call):
            parts = node.args
        else:
            continue
        found = {name for part in parts for name in _named(part)} & names
        if len(found) > MOST:
            yield node.lineno, found


def _named(part: ast.expr) -> Iterator[str]:
    if isinstance(part, ast.Starred):
        part = part.value
    if isinstance(part, ast.Attribute) and ast.unparse(part.value).endswith("Status"):
        yield getattr(Status, part.attr).value
    elif isinstance(part, ast.Constant) and isinstance(part.value, str):
        yield part.value


@pytest.mark.parametrize("names", [STATUSES, OUTCOMES], ids=["statuses", "outcomes"])
def test_nothing_else_lists_them(names: set[str]) -> None:
    places = [
        f"{file.relative_to(ROOT)}:{line}: {', '.join(sorted(found))}"
        for file in FILES
        if TABLE_OF.get(file.relative_to(ROOT).as_posix()) is not names
        for line, found in listed(ast.parse(file.read_text(encoding="utf-8")), names)
    ]
    assert places == []


@pytest.mark.parametrize(
    ("source", "finds"),
    [
        ("{Status.APPLIED: 1, Status.PENDING: 2, Status.FAILED: 3}", True),
        ("report.with_status('failed', 'drifted', 'overridden')", True),
        ("(Status.FAILED, *others, patch.Status.DRIFTED, 'overridden')", True),
        ("{Status.APPLIED, Status.APPLIED, 'applied', Status.PENDING}", False),
        ("[Status.APPLIED, 'a', 'b', 'c']", False),
    ],
)
def test_what_is_a_list_of_statuses(source: str, finds: bool) -> None:
    assert bool([*listed(ast.parse(source), STATUSES)]) is finds

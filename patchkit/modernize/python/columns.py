"""Columns of datasets, which were lists."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...legacy.changes import Adjusted, Listed
from ...legacy.versions.due import Due
from ...legacy.wording import release
from ..reading.script import Script
from .calls import CallPlan
from .edits import ITSELF, span_of
from .plan import Plan

_TOLD = "a column of a dataset, which is no list since {since}"


def list_columns(plan: Plan, call: CallPlan, row: Adjusted, action: Listed) -> None:
    """Make lists of the columns that a call gets."""
    given = [each.node for each in (*call.call.positional, *call.call.keywords.values())]
    if any(_column(node, action) for node in given):
        rows = _rows(plan.script)
        for node in given:
            if _column(node, action) and _is_of_rows(node, rows):
                _list(plan, node, call.name, row, action)


def plan_columns(plan: Plan, due: Due) -> None:
    """Make lists of the columns that functions of other libraries get."""
    for row in due.of(Adjusted):
        if isinstance(row.in_source, Listed):
            for node, name in _calls(plan.script, row.in_source):
                _list(plan, node, name, row, row.in_source)


def _list(plan: Plan, node: ast.expr, name: str, row: Adjusted, action: Listed) -> None:
    if span_of(node) not in plan.edits.sources:
        plan.wrap(node, action.written.replace("{value}", ITSELF))
        column = plan.lines.source(node)
        new = action.written.replace("{value}", column)
        plan.changed(node, f"{name}({column})", new, _TOLD.format(since=release(row.gone)))


def _column(node: ast.expr, action: Listed) -> str:
    """Return the column that an expression takes of rows; empty if it is something else."""
    key = node.slice if isinstance(node, ast.Subscript) else None
    name = key.value if isinstance(key, ast.Constant) else None
    return name if isinstance(name, str) and not name.startswith(action.parts) else ""


def _calls(script: Script, action: Listed) -> Iterator[tuple[ast.expr, str]]:
    """Yield the columns that functions of other libraries get first, and their names."""
    names = {
        f"{alias.asname or alias.name}.{function.rpartition('.')[2]}": function
        for node in ast.walk(script.tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        for function in action.functions
        if function.startswith(f"{alias.name}.")
    }
    rows = _rows(script) if names else {}
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in names:
            first = node.args[0]
            if _column(first, action) and _is_of_rows(first, rows):
                yield first, names[ast.unparse(node.func)].rpartition(".")[2]


def _rows(script: Script) -> dict[str, bool]:
    """Return variables, and whether each is surely a dataset, or several by name."""
    making = {id(call.node) for call in script.calls if call.name.startswith("datasets.")}
    found: dict[str, bool] = {}
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            is_made = id(value) in making or _is_of_rows(value, found)
            found[name] = is_made and found.get(name, True)
    return found


def _is_of_rows(node: ast.expr, rows: dict[str, bool]) -> bool:
    """Tell whether an expression is a dataset, or something that is taken of one by its name."""
    while isinstance(node, ast.Subscript) and isinstance(getattr(node.slice, "value", None), str):
        node = node.value
    return isinstance(node, ast.Name) and rows.get(node.id, False)

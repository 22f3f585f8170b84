"""Combinations of arguments that were taken, and are errors today."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...legacy.changes import Adjusted, Columns, GivenToo, LeftOut, OneColumn, Wrapped
from ...legacy.wording import release, since
from ..reading.script import Given
from ..reading.values import Made, Own
from .calls import CallPlan
from .edits import ITSELF, span_of
from .plan import Plan

_OTHER_COLUMNS = frozenset(
    {"remove_columns", "rename_column", "rename_columns", "select_columns", "column_names"}
)
"""What scripts change the columns of a dataset by."""


def plan_combinations(plan: Plan, call: CallPlan) -> None:
    """Plan for a call what the table says of combinations of its arguments."""
    for row in call.rows.adjusted:
        if isinstance(row.in_source, LeftOut):
            _leave_out(plan, call, row, row.in_source)
        elif isinstance(row.in_source, Wrapped):
            _wrap(plan, call, row, row.in_source)
        elif isinstance(row.in_source, OneColumn):
            _select_column(plan, call, row, row.in_source)
        elif isinstance(row.in_source, GivenToo):
            _give_too(plan, call, row, row.in_source)
        elif isinstance(row.in_source, Columns):
            _rename_columns(plan, row, row.in_source)


def _leave_out(plan: Plan, call: CallPlan, row: Adjusted, action: LeftOut) -> None:
    """Leave out an argument that another one holds already."""
    given, other = call.keywords.get(action.keyword), _argument(call, action.beside)
    if given is None or other is None or given.value is None:
        return
    makers = [
        value.call
        for value in other.values
        if isinstance(value, Made) and value.call is not None and value.call.name == action.made_by
    ]
    if not makers or len(makers) < len(other.values):
        return
    old = f"{call.name}({action.keyword}=) with a model that has adapters already"
    held = {ast.dump(it.node) for maker in makers for it in _arguments(maker)}
    if ast.dump(given.node) in held:
        call.remove(action.keyword)
        call.is_old = True
        plan.changed(given.node, old, "leave it out", f"it {since(row)}")
    else:
        plan.remark(given.node, old, f"{since(row)}; leave one of the two out")


def _arguments(maker: object) -> Iterator[Given]:
    yield from getattr(maker, "positional", ())
    yield from getattr(maker, "keywords", {}).values()


def _argument(call: CallPlan, name: str) -> Given | None:
    if name in call.keywords or not call.positional:
        return call.keywords.get(name)
    return call.positional[0]


def _give_too(plan: Plan, call: CallPlan, row: Adjusted, action: GivenToo) -> None:
    """Give an argument that another one needs."""
    beside = call.keywords.get(action.beside)
    if beside is None or not beside.value or action.keyword in call.keywords:
        return
    if call.call.complete:
        call.put(action.keyword, action.source)
        new = f"{action.keyword}={action.source} too"
        plan.changed(beside.node, f"{call.name}({action.beside}=)", new, f"it {since(row)}")


def _wrap(plan: Plan, call: CallPlan, row: Adjusted, action: Wrapped) -> None:
    """Wrap a function that returns a list for a batch."""
    given = call.keywords.get(action.keyword)
    if given is None:
        return
    functions = [value.node for value in given.values if isinstance(value, Own)]
    if not any(map(_returns_list, functions)) and not _is_list_lambda(given.node):
        return
    function = plan.imports.name(action.by, given.node)
    plan.wrap(given.node, f"{function}({ITSELF})")
    call.is_old = True
    old = f"{call.name}({action.keyword}=) that returns a list for a batch"
    plan.changed(given.node, old, f"{action.keyword}={function}(…)", f"it {since(row)}")


def _is_list_lambda(node: ast.expr) -> bool:
    return isinstance(node, ast.Lambda) and isinstance(node.body, ast.List | ast.ListComp)


def _returns_list(function: ast.AST) -> bool:
    """Tell whether a function of the script's returns a list that it makes."""
    made: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.ListComp):
            made.update(it.id for it in node.targets if isinstance(it, ast.Name))
    return any(
        isinstance(node, ast.Return)
        and (
            isinstance(node.value, ast.List | ast.ListComp)
            or (isinstance(node.value, ast.Name) and node.value.id in made)
        )
        for node in ast.walk(function)
    )


def _select_column(plan: Plan, call: CallPlan, row: Adjusted, action: OneColumn) -> None:
    """Leave the column alone that an old keyword of a trainer names, or that is known."""
    if action.keyword in call.keywords or action.unless in call.keywords:
        return
    named = call.call.keywords.get(action.keyword)
    for name in action.datasets:
        given = call.keywords.get(name)
        if given is None or not _is_dataset(given):
            continue
        column = named.value if named is not None else _known_column(plan, given, action)
        if not isinstance(column, str) or (named is None and not call.is_old):
            continue
        thing = (
            ITSELF if isinstance(given.node, ast.Name | ast.Call | ast.Subscript) else f"({ITSELF})"
        )
        selected = f'select_columns(["{column}"])'
        plan.wrap(given.node, f"{thing}.{selected}")
        call.is_old = True
        plan.changed(
            given.node,
            f"{call.name}({name}=) with {action.keyword}={column!r}"
            if named is not None
            else f"{call.name}({name}=) with other columns",
            f"{name}=….{selected}",
            f"its other columns have a meaning since {release(row.gone)}",
        )


def _known_column(plan: Plan, given: Given, action: OneColumn) -> str | None:
    """Return the column that is meant of a dataset that is well known, and has its columns."""
    for node in ast.walk(plan.script.tree):
        name = node.arg if isinstance(node, ast.keyword) else getattr(node, "attr", None)
        if name in _OTHER_COLUMNS:
            return None
    columns = set()
    for value in given.values:
        loaded = value.call if isinstance(value, Made) else None
        arguments = loaded.positional if loaded is not None else ()
        columns.add(action.known.get(str(arguments[0].value)) if arguments else None)
    return columns.pop() if len(columns) == 1 else None


def _is_dataset(given: Given) -> bool:
    kinds = {value.kind if isinstance(value, Made) else "" for value in given.values}
    return kinds == {"datasets.Dataset"}


def _rename_columns(plan: Plan, row: Adjusted, action: Columns) -> None:
    """Rename columns that the script makes itself, wherever it names them."""
    found = [
        node
        for node in ast.walk(plan.script.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value in action.names
    ]
    parents = plan.script.parents
    makes = any(isinstance(parents.get(node), ast.Dict | ast.Subscript) for node in found)
    if not makes:
        return
    for node in found:
        name = str(node.value)
        new = action.names[name]
        quote = plan.lines.source(node)[:1]
        plan.edits.sources[span_of(node)] = f"{quote}{new}{quote}"
        plan.changed(node, f"column {name}", new, f"it {since(row)}")

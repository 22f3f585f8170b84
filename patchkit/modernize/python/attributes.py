"""Attributes that are read from, or set on, objects of the libraries."""

from __future__ import annotations

import ast

from ...legacy.changes import Attribute as Row
from ...legacy.changes import Convert, Drop, Environment, Keep, Keyword, Rename
from ...legacy.wording import since
from ..reading.kinship import ancestors
from ..reading.script import NOT_LITERAL, Attribute
from .conversion import CannotConvertError, convert
from .edits import span_of
from .plan import Plan
from .standin import rendered


def plan_attributes(plan: Plan) -> None:
    """Read and set what has another name today by that one."""
    for found in plan.script.attributes:
        rows = _rows(plan, found.owner)
        row = rows.get(found.name)
        if found.is_set:
            _set(plan, found)
        elif row is not None:
            _read(plan, found, row)
    for found in plan.script.own_fields:
        row = _rows(plan, found.owner).get(found.name)
        if row is not None and _is_renamed(plan, found):
            _read(plan, found, row)


def _rows(plan: Plan, owner: str) -> dict[str, Row]:
    known = ancestors(owner)
    return {
        row.name: row for name in reversed(known) for row in plan.due.of(Row) if name in row.owners
    }


def _is_renamed(plan: Plan, found: Attribute) -> bool:
    """Tell whether the field of the script's own class gets another name."""
    row = _keyword(plan, found)
    return row is not None and isinstance(row.action, Rename)


def _keyword(plan: Plan, found: Attribute) -> Keyword | None:
    methods = plan.due.methods(ancestors(found.owner))
    return methods["__init__"].keywords.get(found.name) if "__init__" in methods else None


def _read(plan: Plan, found: Attribute, row: Row) -> None:
    old = f"{found.owner.rpartition('.')[2]}.{found.name}"
    in_text = plan.lines.is_in_text(found.node)
    if not row.written or (in_text and not _may_stand_in_text(plan, found, row)):
        plan.remark(found.node, old, f"{since(row)}; {row.advice}")
        return
    given = found.made_by.keywords.get(found.name) if found.made_by is not None else None
    if given is not None and "{object}" not in row.written and given.value is not NOT_LITERAL:
        source = rendered(given.value)
    else:
        source = row.written.format(object=plan.lines.source(found.node.value))
    plan.edits.sources[span_of(found.node)] = source
    plan.changed(found.node, old, source, f"it {since(row)}; {row.advice}")


def _may_stand_in_text(plan: Plan, found: Attribute, row: Row) -> bool:
    """Tell whether a formatted text can hold what is written; Python may misplace what it has."""
    stands_there = plan.lines.source(found.node) == ast.unparse(found.node)
    return stands_there and not set("'\"\\") & set(row.written)


def _set(plan: Plan, found: Attribute) -> None:
    """Set what a keyword of the constructor is today."""
    row = _keyword(plan, found)
    if row is None or not isinstance(plan.script.parents.get(found.node), ast.Assign):
        return
    kind = found.owner.rpartition(".")[2]
    old, because = f"{kind}.{found.name} =", f"it {since(row)}"
    if isinstance(row.action, Rename):
        _name(plan, found, row.action.to)
        plan.changed(found.node, old, f"{row.action.to} =", because)
    elif isinstance(row.action, Convert) and found.given is not None:
        _convert(plan, found, row, row.action)
    elif isinstance(row.action, Keep | Drop | Environment):
        pass  # the attribute is the script's own today, and does no harm
    else:
        plan.remark(found.node, old, since(row))


def _convert(plan: Plan, found: Attribute, row: Keyword, action: Convert) -> None:
    assert found.given is not None
    old = f"{found.owner.rpartition('.')[2]}.{found.name} ="
    try:
        made = convert(plan, (action.to, action.convert, action.written), found.given, {})
    except CannotConvertError as error:
        plan.remark(found.node, old, f"{since(row)}: {error.because}", error.outcome)
        return
    if list(made.sources) != [action.to]:
        plan.remark(found.node, old, f"{since(row)}; {action.to} says it")
        return
    _name(plan, found, action.to)
    source = made.sources[action.to]
    if source != plan.lines.source(found.given.node):
        plan.edits.sources[span_of(found.given.node)] = source
    plan.changed(found.node, old, f"{action.to} = {source}", f"it {since(row)}")


def _name(plan: Plan, found: Attribute, to: str) -> None:
    plan.edits.sources[span_of(found.node)] = f"{plan.lines.source(found.node.value)}.{to}"

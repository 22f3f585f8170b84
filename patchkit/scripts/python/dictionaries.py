"""Dictionaries whose entries are arguments of calls."""

from __future__ import annotations

import ast

from ...legacy.changes import Keyword, Rename
from ..reading.script import Call
from .plan import Plan


def may_edit(plan: Plan, call: Call, holder: ast.expr, row: Keyword) -> bool:
    """Tell whether an entry can be changed for one call without harm to others.

    Args:
        plan: the changes of the script.
        call: the call.
        holder: the dictionary, or call of `dict`, that has the entry.
        row: what has changed of it.
    """
    parent = plan.script.parents.get(holder)
    if isinstance(parent, ast.keyword):
        return True
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if isinstance(parent, ast.AnnAssign):
        target = parent.target
    if not isinstance(target, ast.Name):
        return False
    users = [_user(plan, node) for node in _loads(plan, target.id)]
    return all(user is not None and _agrees(plan, user, call, row) for user in users)


def _loads(plan: Plan, name: str) -> list[ast.Name]:
    """Return where a name is read, but for its items."""
    return [
        node
        for node in ast.walk(plan.script.tree)
        if isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and not isinstance(plan.script.parents.get(node), ast.Subscript)
    ]


def _user(plan: Plan, node: ast.Name) -> Call | None:
    """Return the call of a library's that a dictionary is given to by `**`."""
    keyword = plan.script.parents.get(node)
    if not isinstance(keyword, ast.keyword) or keyword.arg is not None:
        return None
    user = plan.script.parents.get(keyword)
    return next((call for call in plan.script.calls if call.node is user), None)


def _agrees(plan: Plan, user: Call, call: Call, row: Keyword) -> bool:
    """Tell whether another call wants the same of an entry."""
    if user.node is call.node or ast.dump(user.node.func) == ast.dump(call.node.func):
        return True
    other = plan.rows_of(user).keywords.get(row.name)
    return isinstance(row.action, Rename) and other is not None and other.action == row.action

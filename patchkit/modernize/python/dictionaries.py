"""Dictionaries whose entries are arguments of calls."""

from __future__ import annotations

import ast
from typing import TypeGuard

from ...legacy.changes import Keyword
from ...legacy.decisions import UNKNOWN, decide
from ..reading.expressions import DEEPEST, HANDED, entries, literal
from ..reading.script import Holder, ScriptCall
from . import readers
from .plan import Plan
from .settings import ONLY_READ, changes
from .standin import rendered

_OUTPUT, _OPEN = "output_dir", "{value}"
_SEVERAL = (ast.Dict, ast.List, ast.Set, ast.Tuple)


def plan_settings(plan: Plan) -> None:
    """Remark on old settings in dictionaries that a training surely gets, though no call shows."""
    followed = {id(given.holder) for call in plan.script.calls for given in call.keywords.values()}
    for part in ast.walk(plan.script.tree):
        node = part if isinstance(part, ast.Dict) or _is_dict(part) else None
        if node is None or id(node) in followed:
            continue
        if isinstance(plan.script.parents.get(node), ast.Call | ast.keyword):
            continue  # a log may get it
        given = {name: value for name, value, _ in entries(node) if name is not None}
        given = {name: value for name, value in given.items() if not isinstance(value, _SEVERAL)}
        reader = readers.of_settings(given.keys()) if _OUTPUT in given else None
        values = {name: literal(value) for name, value in given.items()}
        if reader is None or not any(isinstance(value, int | float) for value in values.values()):
            continue
        settings = {name: _OPEN if value is UNKNOWN else value for name, value in values.items()}
        for changed in changes(settings, reader, plan.due):
            if changed.name not in ONLY_READ:
                written = (changed.new or {}).items()
                new = ", ".join(f'"{name}": {rendered(value)}' for name, value in written)
                instead = f"; write {new.replace(rendered(_OPEN), '…')}" if new else ""
                old = f'the setting "{changed.name}"'
                plan.remark(given[changed.name], old, changed.because + instead)


def may_edit(plan: Plan, call: ScriptCall, holder: Holder, row: Keyword) -> bool:
    """Tell whether an entry can be changed for one call without harm to others."""
    users = _users_of(plan, holder, 0)
    return all(user is not None and _agrees(plan, user, call, row) for user in users)


def _users_of(plan: Plan, holder: ast.AST, depth: int) -> list[ScriptCall | None]:
    """Return the calls that a dictionary is given to; None for any other use."""
    parent = plan.script.parents.get(holder)
    if isinstance(parent, ast.keyword) and parent.arg in (None, HANDED):
        return _given_to(plan, parent, depth)
    if isinstance(parent, ast.Dict | ast.BinOp):
        return _users_of(plan, parent, depth + 1) if depth < DEEPEST else [None]
    target: ast.AST | None = None
    if isinstance(parent, ast.Assign):
        target = parent.targets[0]
    elif isinstance(parent, ast.AnnAssign):
        target = parent.target
    elif isinstance(holder, ast.Assign) and isinstance(holder.targets[0], ast.Subscript):
        target = holder.targets[0].value
    elif isinstance(holder, ast.Call) and isinstance(holder.func, ast.Attribute):
        target = holder.func.value
    elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        target = parent.func.value
    if not isinstance(target, ast.Name):
        return [None]
    return [user for node in _loads(plan, target.id) for user in _users_of(plan, node, depth + 1)]


def _given_to(plan: Plan, keyword: ast.keyword, depth: int) -> list[ScriptCall | None]:
    user = plan.script.parents.get(keyword)
    if _is_dict(user):
        return _users_of(plan, user, depth + 1) if depth < DEEPEST else [None]
    return [next((call for call in plan.script.calls if call.node is user), None)]


def _is_dict(node: ast.AST | None) -> TypeGuard[ast.Call]:
    """Tell whether a call is `dict(…)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict"


def _loads(plan: Plan, name: str) -> list[ast.Name]:
    """Return where a name is read, but for its items and for what it gets."""
    return [
        node
        for node in ast.walk(plan.script.tree)
        if isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and not isinstance(parent := plan.script.parents.get(node), ast.Subscript)
        and not (isinstance(parent, ast.Attribute) and parent.attr == "update")
    ]


def _agrees(plan: Plan, user: ScriptCall, call: ScriptCall, row: Keyword) -> bool:
    """Tell whether another call wants the same of an entry."""
    if user.node is call.node:
        return True
    decision = decide(row)
    if decision.in_configuration and not user.complete:
        return False  # it may have a configuration that is not seen
    if ast.dump(user.node.func) == ast.dump(call.node.func):
        return True
    other = plan.rows_of(user).keywords.get(row.name)
    return (
        other is not None
        and decision.keeps_value
        and not decision.in_configuration
        and decide(other).arguments == decision.arguments
    )

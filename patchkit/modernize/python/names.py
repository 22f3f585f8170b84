"""Names and modules that are elsewhere today, or nowhere."""

from __future__ import annotations

import ast
from collections import defaultdict

from ...legacy.changes import Alike, Moved
from ...legacy.places import OURS, FoundName, public_place
from ...legacy.wording import LEAVE_OUT, since
from ..findings import ScriptOutcome
from ..reading.expressions import TRAINING
from ..reading.kinship import ancestors
from ..reading.script import Given, ScriptCall, ScriptUse
from .edits import NewImport, Span, span_of
from .plan import Plan
from .standin import argument_list

_WHOLE = frozenset({"evaluate"})
"""Modules whose names say too little alone, so that scripts import the modules."""
BY_THIS_NAME = "it is imported by this name"


def plan_names(plan: Plan) -> None:
    """Import what has moved from where it is; say what is gone."""
    modules = {use.name for use in plan.script.uses if use.alias is not None}
    statements: dict[ast.ImportFrom, list[tuple[ScriptUse, NewImport]]] = defaultdict(list)
    gone: dict[tuple[Span, str], list[ScriptUse]] = defaultdict(list)
    for use in plan.script.uses:
        became = plan.due.places.find(use.name)
        if became is None:
            continue
        row, place = became.row, public_place(became.place)
        if plan.script.is_of_unsloth and not TRAINING.isdisjoint(ancestors(use.name)):
            continue  # Unsloth puts its own in their place, where it has found them
        if use.optional and _has_substitute(plan, use, is_ours=place.startswith(OURS)):
            continue
        is_whole = place.rpartition(".")[0] in _WHOLE
        if (became.is_gone or is_whole or place.startswith(OURS)) and _is_unused(plan, use):
            _drop(plan, use, f"it {since(row)}, and nothing uses it")
            continue
        if became.is_gone:
            if not use.optional:
                gone[plan.lines.statement(use.node), became.refusal].append(use)
            continue
        if isinstance(row, Moved) and row.idle and _leave_out(plan, use, row):
            continue
        if (
            row.name != use.name
            and row.name in modules
            and isinstance(use.node, ast.Attribute)
            and isinstance(use.node.value, ast.Name)
        ):
            continue  # the module is imported from where it is
        if isinstance(row, Moved) and row.alike is not None and _call_alike(plan, row, row.alike):
            place, became = row.alike.to, FoundName(row, row.alike.to)
        members = _members(plan, use, row) if isinstance(row, Moved) and row.member else []
        if isinstance(row, Moved) and members:
            place, became = row.member, FoundName(row, row.member)
        module, _, last = place.rpartition(".")
        for member in members:
            plan.edits.sources[span_of(member)] = last
            plan.changed(member, ast.unparse(member), last, BY_THIS_NAME)
        if module in _WHOLE and _qualify(plan, use, place):
            pass
        elif _has_already(plan, use, place):
            assert use.alias is not None
            plan.edits.dropped[span_of(use.node)].add(use.alias.name)
        elif isinstance(use.node, ast.ImportFrom) and use.alias is not None:
            bound = last if members else use.alias.asname or use.alias.name
            if not members and use.alias.asname is None and _rename(plan, use.alias.name, last):
                bound = last
            statements[use.node].append((use, NewImport(module, last, bound)))
        elif isinstance(use.node, ast.Import):
            _module(plan, use, became)
            continue
        elif isinstance(use.node, ast.expr) and plan.lines.is_in_text(use.node):
            plan.remark(use.node, use.name, f"{since(row)}; it is {place} today")
            continue
        elif isinstance(use.node, ast.expr):
            plan.edits.sources[span_of(use.node)] = _called(plan, place, use.node)
        _found(plan, use, became)
        if isinstance(row, Moved) and row.read:
            _read_today(plan, row)
    for node, moved in statements.items():
        _import_from(plan, node, moved)
    for (_, instead), uses in gone.items():
        _gone(plan, uses, instead)


def _call_alike(plan: Plan, row: Moved, alike: Alike) -> bool:
    """Let calls give the old defaults to what takes a name's place; False if not all can."""
    made = (call for call in plan.script.calls if call.method == "__init__")
    calls = [call for call in made if call.name == row.name]
    names = [use.alias for use in plan.script.uses if use.name == row.name and use.alias]
    bound = {alias.asname or alias.name for alias in names}
    used = [
        node
        for node in ast.walk(plan.script.tree)
        if isinstance(node, ast.Name) and node.id in bound and isinstance(node.ctx, ast.Load)
    ]
    called = [call.node.func for call in calls]
    if any(node not in called for node in used):
        return False
    edits: list[tuple[ScriptCall, list[Given], dict[str, str]]] = []
    for call in calls:
        text = {
            name: f"{name}={plan.lines.source(each.node)}" for name, each in call.keywords.items()
        }
        gone = [call.keywords[name] for name in text if text[name] in alike.without]
        given = {*alike.order[: len(call.positional)], *call.keywords}
        unknown = {name for name in text if text[name] not in alike.without} - {*alike.order}
        if unknown or not call.complete or any(each.holder for each in call.keywords.values()):
            return False
        edits.append((call, gone, {name: alike.given[name] for name in alike.given.keys() - given}))
    for call, gone, more in edits:
        plan.edits.removed.update(span_of(each.keyword) for each in gone if each.keyword)
        plan.edits.added[span_of(call.node)].update(sorted(more.items()))
        new = f"{alike.to}({argument_list(more)})"
        plan.changed(call.node, row.name, new, "it has had other defaults")
    return True


def _members(plan: Plan, use: ScriptUse, row: Moved) -> list[ast.expr]:
    """Return where a script reads the one member of a class that is a function today.

    There are none if it does more with the class.
    """
    if not isinstance(use.node, ast.ImportFrom) or use.alias is None:
        return []
    bound, member = use.alias.asname or use.alias.name, row.member.rpartition(".")[2]
    names = [node for node in ast.walk(plan.script.tree) if getattr(node, "id", "") == bound]
    read = [plan.script.parents[node] for node in names]
    found = [node for node in read if isinstance(node, ast.Attribute) and node.attr == member]
    is_other = plan.bindings.number(bound) > 1 or plan.script.has_meaning(member)
    is_other = is_other or any(map(plan.lines.is_in_text, found))
    return [] if is_other or len(found) < len(names) else list(found)


def _has_substitute(plan: Plan, use: ScriptUse, is_ours: bool) -> bool:
    """Tell whether a script does without an import that fails: by another, or by patchkit's."""
    tried = next(node for node in plan.script.around(use.node) if isinstance(node, ast.Try))
    bound = "" if use.alias is None else use.alias.asname or use.alias.name
    for part in (part for handler in tried.handlers for part in ast.walk(handler)):
        if isinstance(part, ast.ImportFrom | ast.Import):
            if bound in {alias.asname or alias.name for alias in part.names}:
                return True
        elif is_ours and bound == getattr(part, "id", getattr(part, "name", "")):
            return True
    return False


def _is_unused(plan: Plan, use: ScriptUse) -> bool:
    """Tell whether a script imports a name beside others, and uses those alone."""
    if use.alias is None or use.optional or not isinstance(use.node, ast.ImportFrom):
        return False
    used = {
        node.id if isinstance(node, ast.Name) else node.value
        for node in ast.walk(plan.script.tree)
        if isinstance(node, ast.Name | ast.Constant)
    }
    others = [alias.asname or alias.name for alias in use.node.names if alias is not use.alias]
    # A module of imports alone may be there for others to import from.
    is_alone = bool(plan.script.calls) and not plan.lines.has_comments(use.node)
    is_script = not used.isdisjoint(others) if others else is_alone
    return (use.alias.asname or use.alias.name) not in used and is_script


def _leave_out(plan: Plan, use: ScriptUse, row: Moved) -> bool:
    """Leave out an import and the calls of what does nothing; False if a script has other uses."""
    node, tree, parents = use.node, plan.script.tree, plan.script.parents
    if use.alias is None or not isinstance(node, ast.ImportFrom) or node not in tree.body:
        return False
    name = use.alias.asname or use.alias.name
    uses = [each for each in ast.walk(tree) if getattr(each, "id", "") == name]
    statements = [parents[parents[each]] for each in uses if _is_called(each, parents[each])]
    is_other = plan.bindings.number(name) > 1 or len(statements) < len(uses)
    if is_other or not uses or not all(map(plan.lines.can_go, statements)):
        return False
    _drop(plan, use, f"it {since(row)}, and nothing needs it")
    plan.edits.removed.update(map(span_of, statements))
    return True


def _drop(plan: Plan, use: ScriptUse, because: str) -> None:
    """Leave a name out of the statement that imports it."""
    assert use.alias is not None
    plan.edits.dropped[span_of(use.node)].add(use.alias.name)
    plan.find(use.line, use.name, LEAVE_OUT, because, ScriptOutcome.CHANGED)


def _is_called(node: ast.AST, call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and call.func is node


def _has_already(plan: Plan, use: ScriptUse, place: str) -> bool:
    """Let a script use today's name where it imports that beside the old one; False if not."""
    return (
        isinstance(use.node, ast.ImportFrom)
        and use.alias is not None
        and use.alias.asname is None
        and any(
            other.name == place
            and other.node is use.node
            and other.alias is not None
            and other.alias.asname is None
            for other in plan.script.uses
        )
        and _replace(plan, use.alias.name, place.rpartition(".")[2])
    )


def _read_today(plan: Plan, row: Moved) -> None:
    """Read what is the result today in place of a part of it."""
    parts = row.read.count(".")
    outer = row.read.split(".")[1]
    inside: set[ast.AST] = set()
    for node in ast.walk(plan.script.tree):
        if isinstance(node, ast.Attribute) and node.attr == outer and node not in inside:
            plan.remark(node, f".{outer}", f"{since(row)}; {row.otherwise}")
        if isinstance(node, ast.Attribute) and ast.unparse(node).endswith(row.read):
            inner: ast.expr = node
            inside.update(ast.walk(node))
            for _ in range(parts):
                assert isinstance(inner, ast.Attribute)
                inner = inner.value
            plan.edits.sources[span_of(node)] = plan.lines.source(inner)
            plan.changed(node, row.read, plan.lines.source(inner), f"it {since(row)}")


def _qualify(plan: Plan, use: ScriptUse, place: str) -> bool:
    """Import a module as a whole for one of its names; False if the script needs the name alone."""
    node, alias = use.node, use.alias
    module, imports = place.rpartition(".")[0], plan.imports
    if not isinstance(node, ast.ImportFrom) or alias is None or node not in plan.script.tree.body:
        return False
    if alias.asname or (plan.script.has_meaning(module) and not imports.has(module)):
        return False
    if not _replace(plan, alias.name, place):
        return False
    if len(node.names) == 1 and not imports.has(module):
        plan.edits.modules[span_of(node)] = f"import {module}"
        return True
    plan.edits.dropped[span_of(node)].add(alias.name)
    if not imports.has(module):
        plan.edits.after[plan.lines.statement(node)].append(f"import {module}")
    return True


def _called(plan: Plan, place: str, node: ast.expr) -> str:
    """Return what a script calls a name, which it then imports."""
    module = place.rpartition(".")[0]
    if module not in _WHOLE or (plan.script.has_meaning(module) and not plan.imports.has(module)):
        return plan.imports.name(place, node)
    plan.imports.module(module)
    return place


def _rename(plan: Plan, old: str, new: str) -> bool:
    """Let a script call what it imports by its name of today; False if that could be another."""
    return old != new and not plan.script.has_meaning(new) and _replace(plan, old, new)


def _replace(plan: Plan, old: str, new: str) -> bool:
    """Write something else wherever a script has a name; False if that could be another."""
    tree = plan.script.tree
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == old]
    is_elsewhere = any(
        isinstance(node, ast.Constant) and node.value == old for node in ast.walk(tree)
    )
    if plan.bindings.number(old) > 1 or is_elsewhere or any(map(plan.lines.is_in_text, uses)):
        return False
    for node in uses:
        plan.edits.sources[span_of(node)] = new
        plan.changed(node, old, new, BY_THIS_NAME)
    return True


def _found(plan: Plan, use: ScriptUse, became: FoundName) -> None:
    module, _, last = public_place(became.place).rpartition(".")
    because = f"it {since(became.row)}"
    if became.differs:
        because += f"; {became.differs}"
    plan.find(use.line, use.name, f"from {module} import {last}", because, ScriptOutcome.CHANGED)


def _module(plan: Plan, use: ScriptUse, became: FoundName) -> None:
    """Import a module by its current place."""
    assert use.alias is not None
    line, column, _, _ = span_of(use.alias)
    plan.edits.sources[line, column, line, column + len(use.name)] = became.place
    plan.find(use.line, use.name, became.place, f"it {since(became.row)}", ScriptOutcome.CHANGED)


def _import_from(
    plan: Plan, node: ast.ImportFrom, moved: list[tuple[ScriptUse, NewImport]]
) -> None:
    span = span_of(node)
    names = {use.alias.name for use, _ in moved if use.alias is not None}
    stay = any(alias.name not in names for alias in node.names)
    by_module: dict[str, list[tuple[ScriptUse, NewImport]]] = defaultdict(list)
    for use, new in moved:
        by_module[new.module].append((use, new))
    if not stay:
        # The statement itself becomes that of the first module.
        first, *_ = by_module
        plan.edits.modules[span] = first
        for use, new in by_module.pop(first):
            assert use.alias is not None
            if new.name != use.alias.name:
                plan.edits.dropped[span].add(use.alias.name)
                plan.edits.extended[span].append(new)
    for module, several in by_module.items():
        plan.edits.dropped[span] |= {use.alias.name for use, _ in several if use.alias}
        if module == node.module and not node.level:
            known = [new.alias for new in plan.edits.extended[span]]
            plan.edits.extended[span] += [new for _, new in several if new.alias not in known]
            continue
        plan.imports.beside([new for _, new in several], node)


def _gone(plan: Plan, uses: list[ScriptUse], instead: str) -> None:
    """Say of names of one statement that they are gone, in one remark."""
    found = plan.due.places.find(uses[0].name)
    assert found is not None
    because = f"{since(found.row)}. {instead}"
    for use in uses:
        plan.find(use.line, use.name, "", because, ScriptOutcome.GONE)
    names = ", ".join(dict.fromkeys(use.name for use in uses))
    text = f"{names} {because}"
    if len(uses) > 1:
        text = text.replace(f"{names} has ", f"{names} have ")
    plan.put_remark(uses[0].node, text)

"""Classes of a script's own that derive from those of the libraries."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...legacy.changes import Adjusted, OtherParameter, Parameters, Rename
from ...legacy.versions.due import MethodRows
from ...legacy.wording import since
from ..reading.kinship import ancestors
from ..reading.script import OwnClass
from .edits import span_of
from .plan import Plan

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_CALLBACK = "transformers.TrainerCallback"
_HANDLER = "transformers.CallbackHandler"


def plan_classes(plan: Plan) -> None:
    """Bring the fields and methods of the script's own classes to today's names."""
    for kind in plan.script.classes:
        public = tuple(dict.fromkeys(it for name in kind.ancestors for it in ancestors(name)))
        methods = plan.due.methods(public)
        _fields(plan, kind, methods.get("__init__", MethodRows()))
        for row in _adjusted(methods):
            if isinstance(row.in_source, Parameters):
                _give_parameters(plan, kind, row, row.in_source)
        if _CALLBACK in public:
            for row in _adjusted(plan.due.methods([_HANDLER])):
                if isinstance(row.in_source, OtherParameter):
                    _rename_parameter(plan, kind, row, row.in_source)


def _adjusted(methods: dict[str, MethodRows]) -> list[Adjusted]:
    return [row for rows in methods.values() for row in rows.adjusted]


def _functions(kind: OwnClass) -> Iterator[_Function]:
    return (node for node in kind.node.body if isinstance(node, _Function))


def _fields(plan: Plan, kind: OwnClass, rows: MethodRows) -> None:
    """Rename fields that give a field of the library another default."""
    for node in kind.node.body:
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        row = rows.keywords.get(node.target.id)
        if row is None:
            continue
        old = f"{kind.name}.{node.target.id}"
        if isinstance(row.action, Rename):
            plan.edits.sources[span_of(node.target)] = row.action.to
            plan.changed(node, old, row.action.to, f"it {since(row)}")
        else:
            to = getattr(row.action, "to", "")
            advice = f"; {to} says it today" if to else ""
            plan.remark(node, old, f"{since(row)}, so that nothing reads it{advice}")


def _give_parameters(plan: Plan, kind: OwnClass, row: Adjusted, action: Parameters) -> None:
    """Give a method the parameters that it is called with today."""
    for node in _functions(kind):
        args = node.args
        if node.name != action.method or args.vararg or args.kwarg or args.kwonlyargs:
            continue
        names = {each.arg for each in (*args.posonlyargs, *args.args)}
        lacking = [each for each in action.more if each.partition("=")[0] not in names]
        if not lacking:
            continue
        plan.edits.parameters[span_of(node)] += lacking
        if action.first:
            plan.edits.first[span_of(node)].append(action.first)
        old = f"{kind.name}.{node.name}({', '.join(each.arg for each in args.args)})"
        plan.changed(node, old, f"with {', '.join(lacking)}", f"it {since(row)}")


def _rename_parameter(plan: Plan, kind: OwnClass, row: Adjusted, action: OtherParameter) -> None:
    """Rename a parameter in methods that the libraries call by name."""
    for node in _functions(kind):
        if not node.name.startswith(action.methods):
            continue
        names = {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
        if action.to in names:
            continue
        old = f"{kind.name}.{node.name}({action.name})"
        for each in (*node.args.args, *node.args.kwonlyargs):
            if each.arg == action.name:
                line, column, _, _ = span_of(each)
                end = column + len(each.arg)
                plan.edits.renamed_parameters[line, column, line, end] = action.to
                plan.changed(node, old, action.to, f"it {since(row)}")
        for part in ast.walk(node):
            is_name = isinstance(part, ast.Name) and part.id == action.name
            is_key = isinstance(part, ast.Constant) and part.value == action.name
            if is_name and action.name in names:
                plan.edits.sources[span_of(part)] = action.to
            elif is_key and _is_key_of_keywords(plan, part, node):
                plan.edits.sources[span_of(part)] = f'"{action.to}"'
                plan.changed(node, old, action.to, f"it {since(row)}")


def _is_key_of_keywords(plan: Plan, node: ast.AST, function: _Function) -> bool:
    """Tell whether a text is a key of the keywords that a function takes."""
    if function.args.kwarg is None:
        return False
    name = function.args.kwarg.arg
    parent = plan.script.parents.get(node)
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.value, ast.Name) and parent.value.id == name
    return (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and isinstance(parent.func.value, ast.Name)
        and parent.func.value.id == name
    )

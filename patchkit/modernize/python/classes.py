"""Classes of a script's own that derive from those of the libraries."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product

from ...legacy.changes import Adjusted, Behaviour, Copied, OtherParameter, Parameters, Uncalled
from ...legacy.decisions import UNKNOWN, decide_value
from ...legacy.versions.due import MethodRows
from ...legacy.wording import release, since
from ..reading.expressions import default_of
from ..reading.handing import initializer_of
from ..reading.kinship import ancestors
from ..reading.script import OwnClass
from ..reading.values import Own
from .edits import span_of
from .plan import Plan
from .standin import Standin, decided, rendered

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_TRAINER, _MODEL = "transformers.Trainer", "transformers.PreTrainedModel"
_METHOD, _LAYERS = "forward", "transformers.models."
_CONFIGURATION = "config"
"""What models that are loaded are made of."""
_CALLBACK = "transformers.TrainerCallback"
_HANDLER = "transformers.CallbackHandler"


def plan_classes(plan: Plan) -> None:
    """Give the fields and methods of the script's own classes their current names."""
    for cls in plan.script.classes:
        public = ancestors(*cls.ancestors)
        methods = plan.due.methods(public)
        _fields(plan, cls, methods.get("__init__", MethodRows()))
        for row, node in product(_adjusted(methods), _functions(cls)):
            if node.name == row.name and isinstance(row.in_source, Parameters):
                _give_parameters(plan, cls, node, row, row.in_source)
            elif node.name == row.name and isinstance(row.in_source, Uncalled):
                _refuse_uncalled(plan, cls, node, row, row.in_source)
        others = [row for rows in methods.values() for row in rows.behaviours if row.silent]
        for other in others:
            assert other.silent is not None
            for former, today in other.silent.constructed.items():
                _call_in_constructor(plan, cls, other, former, str(today))
        for node in _functions(cls):
            _refuse_copy(plan, node, node.name, cls.ancestors[0])
            for other in others:
                if other.silent and other.name == node.name and not _is_named(plan, node):
                    because = f"{other.silent.told}, since {release(other.gone)}"
                    plan.remark(node, f"{cls.name}.{node.name}", because)
        if _CALLBACK in public:
            for row in _adjusted(plan.due.methods([_HANDLER])):
                if isinstance(row.in_source, OtherParameter):
                    _rename_parameter(plan, cls, row, row.in_source)

    for found in plan.script.attributes:
        for value in found.given.values if found.of_class and found.given is not None else ():
            if isinstance(value, Own) and isinstance(value.node, _Function):
                _refuse_copy(plan, value.node, found.name, found.owner)


def _refuse_copy(plan: Plan, node: _Function, name: str, owner: str) -> None:
    """Remark that a method of a layer is a copy of an older one.

    Args:
        plan: what is to be done with the script.
        node: the method, or a function that takes its place.
        name: the name of the method.
        owner: the class of the library.
    """
    if name != _METHOD or not owner.startswith(_LAYERS) or _MODEL in ancestors(owner):
        return
    names = {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
    if any(isinstance(part, ast.Name) and part.id == "super" for part in ast.walk(node)):
        return
    if Copied.taken_by_layers not in names:
        return
    for row in _adjusted(plan.due.methods([_TRAINER])):
        action = row.in_source
        if isinstance(action, Copied) and action.parameter in names:
            old = f"the {owner.rpartition('.')[2]}.{name} that {node.name} is a copy of"
            plan.refuse(node, old, row, action.refusal)
            return


def _adjusted(methods: dict[str, MethodRows]) -> list[Adjusted]:
    return [row for rows in methods.values() for row in rows.adjusted]


def _functions(cls: OwnClass) -> Iterator[_Function]:
    return (node for node in cls.node.body if isinstance(node, _Function))


def _fields(plan: Plan, cls: OwnClass, rows: MethodRows) -> None:
    """Rename fields, and their values, that give a field of the library another default."""
    for node in cls.node.body:
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        old, row = f"{cls.name}.{node.target.id}", rows.keywords.get(node.target.id)
        default = default_of(node)
        if row is not None and node.target.id not in _read_in(cls):
            value = default.value if default is not None else UNKNOWN
            decision, _ = decided(row, value, Standin({}, ()))
            if decision.refusal:
                plan.refuse(node, old, row, decision.refusal)
            elif decision.keeps_value:
                plan.edits.sources[span_of(node.target)] = decision.to
                plan.changed(node, old, decision.to, f"it {since(row)}")
            else:
                because = f"{since(row)}, so that nothing reads it; {decision.advice}"
                plan.remark(node, old, because)
        for value_row in rows.values:
            if default is None or value_row.name != node.target.id:
                continue
            renamed = decide_value(value_row, default.value)
            if renamed is not None and renamed.refusal:
                plan.refuse(node, old, value_row, renamed.refusal)
            elif renamed is not None:
                new = rendered(renamed.arguments[value_row.name])
                plan.edits.sources[span_of(default)] = new
                plan.changed(node, f"{old} = {default.value!r}", new, f"it {since(value_row)}")


def _read_in(cls: OwnClass) -> set[str]:
    """Return the attributes that the methods of a class name, which are its own."""
    parts = [part for node in _functions(cls) for part in ast.walk(node)]
    texts = {part.value for part in parts if isinstance(part, ast.Constant)}
    return {part.attr for part in parts if isinstance(part, ast.Attribute)} | {
        text for text in texts if isinstance(text, str)
    }


def _refuse_uncalled(
    plan: Plan, cls: OwnClass, node: _Function, row: Adjusted, action: Uncalled
) -> None:
    """Remark that no trainer calls a method, unless the script does."""
    if not _is_named(plan, node):
        plan.refuse(node, f"{cls.name}.{node.name}", row, action.refusal)


def _is_named(plan: Plan, method: _Function) -> bool:
    """Tell whether the script reads a method outside it."""
    return any(
        isinstance(part, ast.Attribute)
        and part.attr == method.name
        and method not in plan.script.around(part)
        for part in ast.walk(plan.script.tree)
    )


def _call_in_constructor(
    plan: Plan, cls: OwnClass, row: Behaviour, former: str, today: str
) -> None:
    """Let a constructor call another method at its end, where no class above it does."""
    own = initializer_of(cls.node)
    is_abstract = cls.ancestors[0].endswith(_MODEL.rpartition(".")[2])
    called = [node for node in ast.walk(plan.script.tree) if isinstance(node, ast.Attribute)]
    if own is None or not is_abstract or any(node.attr == today for node in called):
        return
    calls = [node for node in called if node.attr == former and own in plan.script.around(node)]
    for node in calls:
        new = f"{plan.lines.source(node.value)}.{today}"
        plan.edits.sources[span_of(node)] = new
        plan.changed(node, f"{cls.name}.{former}()", f"{new}()", f"it {since(row)}")
    names = [each.arg for each in own.args.args[1:2]]
    is_loaded = own.args.vararg is not None or any(_CONFIGURATION in name for name in names)
    if not calls and is_loaded:
        told = f"does not call self.{today}() at its end; no model is loaded without, since "
        plan.remark(own, f"{cls.name}.__init__", f"{told}{release(row.gone)}")


def _give_parameters(
    plan: Plan, cls: OwnClass, node: _Function, row: Adjusted, action: Parameters
) -> None:
    """Give a method the parameters that it is called with today."""
    args = node.args
    names = [each.arg for each in (*args.posonlyargs, *args.args)]
    lacking = [each for each in action.more if each.partition("=")[0] not in names]
    if args.vararg or args.kwarg or args.kwonlyargs or not lacking:
        return
    old = f"{cls.name}.{node.name}({', '.join(each.arg for each in args.args)})"
    own, more = names[1:], ", ".join(lacking)
    if not action.first and len(own) >= len(action.after) + len(action.more):
        return  # an argument by position goes by its place, whatever the parameter is named
    places = enumerate(action.after)
    if any(name in own and own.index(name) != place for place, name in places):
        before = ", ".join(action.after)
        plan.remark(node, old, f"is called with {before} and {more}; take them in this order")
        return
    plan.edits.parameters[span_of(node)] += lacking
    if action.attribute is not None and plan.due.is_due(action.attribute[0]):
        body = cls.node.body
        top = body[ast.get_docstring(cls.node) is not None]
        plan.edits.before[plan.lines.statement(top)].append(action.attribute[1])
    elif action.first:
        plan.edits.first[span_of(node)].append(action.first)
    because = f"it is called with more since {release(row.since if row.early else row.gone)}"
    plan.changed(node, old, f"with {more}", because)


def _rename_parameter(plan: Plan, cls: OwnClass, row: Adjusted, action: OtherParameter) -> None:
    """Rename a parameter in methods that the libraries call by name."""
    for node in _functions(cls):
        if not node.name.startswith(action.methods):
            continue
        names = {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
        if action.to in names:
            continue
        if any(getattr(part, "value", None) == action.to for part in ast.walk(node)):
            continue  # it knows both names
        old = f"{cls.name}.{node.name}({action.name})"
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

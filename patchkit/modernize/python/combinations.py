"""Combinations of arguments that were taken, and are errors today."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from ...legacy.changes import (
    Adjusted,
    AtMost,
    Columns,
    Copied,
    GivenToo,
    Inner,
    LeftOut,
    Listed,
    OneColumn,
    OtherParameter,
    OwnConfiguration,
    Parameters,
    Uncalled,
    Wrapped,
)
from ...legacy.decisions import never
from ...legacy.wording import LEAVE_OUT, release, since
from ..findings import ScriptOutcome
from ..reading.expressions import DEEPEST
from ..reading.script import Given, OwnClass, ScriptCall
from ..reading.values import Made, Own
from .calls import CallPlan
from .columns import list_columns
from .edits import ITSELF, span_of
from .plan import Plan
from .standin import rendered

_OTHER_COLUMNS = frozenset(
    {"remove_columns", "rename_column", "rename_columns", "select_columns", "column_names"}
)
"""What scripts change the columns of a dataset by."""
_UNPREPARED = "skip_prepare_dataset"
"""The setting of a script whose collator gets the columns as they are."""
_LISTS = (ast.List, ast.ListComp)
_OF_BATCHES = frozenset({"compute_loss", "prediction_step", "training_step"})
"""Methods of trainers that get a batch."""
_LOADER = "dataloader"


def plan_combinations(plan: Plan, call: CallPlan, calls: Mapping[int, CallPlan]) -> None:
    """Plan for a call what the table says of combinations of its arguments."""
    for row in call.rows.adjusted:
        match row.in_source:
            case LeftOut() as action:
                _leave_out(plan, call, row, action)
            case Wrapped() as action:
                _wrap(plan, call, row, action)
            case OneColumn() as action:
                _Column(plan, call, row, action, calls).select()
            case GivenToo() as action:
                _give_too(plan, call, row, action)
            case AtMost() as action:
                for given in call.positional[len(action.positional) :]:
                    plan.edits.removed.add(span_of(given.node))
                    old = f"{call.name}({plan.lines.source(given.node)})"
                    plan.changed(given.node, old, LEAVE_OUT, f"it {since(row)}")
            case Columns() as action:
                _rename_columns(plan, row, action)
            case Inner() as action:
                _take_inner(plan, call, row, action)
            case Listed() as action:
                list_columns(plan, call, row, action)
            case (
                Parameters() | OtherParameter() | Uncalled() | Copied() | OwnConfiguration() | None
            ):
                pass  # see `classes` and `configurations`, or it does not show in a script
            case _:
                never(row.in_source)


def _leave_out(plan: Plan, call: CallPlan, row: Adjusted, action: LeftOut) -> None:
    """Leave out an argument that another one holds already."""
    given = call.keywords.get(action.keyword)
    other = call.keywords.get(action.beside, next(iter(call.positional), None))
    if given is None or other is None or given.value is None:
        return
    if action.own and any(map(_pads, given.values)):
        because = action.own.replace("{since}", release(row.gone))
        plan.remark(given.node, f"{call.name}({action.keyword}=)", because)
        return
    makers = [
        value.call
        for value in other.values
        if isinstance(value, Made) and value.call is not None and value.call.name in action.made_by
    ]
    if not makers or len(makers) < len(other.values):
        return
    if other is given:
        old = f"{call.name}({action.keyword}={makers[0].title}(…))"
        call.remove(action.keyword)
        because = f"since {release(row.gone)} {action.because}" if action.because else ""
        plan.changed(given.node, old, LEAVE_OUT, because or f"it {since(row)}")
        if isinstance(given.node, ast.Name):
            _forget(plan, given.node, makers)
        return
    old = f"{call.name}({action.keyword}=) with a model that has adapters already"
    held = {
        ast.dump(argument.node)
        for maker in makers
        for argument in (*maker.positional, *maker.keywords.values())
    }
    if ast.dump(given.node) in held:
        call.remove(action.keyword)
        call.is_old = True
        plan.changed(given.node, old, LEAVE_OUT, f"it {since(row)}")
    else:
        otherwise = ", or merge_and_unload() the model first" if makers[0].method else ""
        plan.remark(given.node, old, f"{since(row)}; leave one of the two out{otherwise}")


def _take_inner(plan: Plan, call: CallPlan, row: Adjusted, action: Inner) -> None:
    """Give a part of what an argument is."""
    given = dict(zip(action.positional, call.positional, strict=False)).get(action.keyword)
    given = call.keywords.get(action.keyword, given)
    values = given.values if given is not None else ()
    makers = {each.call.name if isinstance(each, Made) and each.call else "" for each in values}
    if given is not None and makers and makers <= set(action.made_by):
        plan.wrap(given.node, action.written.replace("{value}", ITSELF))
        call.is_old = True
        new = action.written.replace("{value}", plan.lines.source(given.node))
        because = f"since {release(row.gone)} it {action.because}"
        plan.changed(given.node, f"{call.name}({action.keyword}=)", new, because)


def _forget(plan: Plan, name: ast.Name, makers: Sequence[ScriptCall]) -> None:
    """Leave out the statement that gives a variable its value, if no more is done with it."""
    names = [node for node in ast.walk(plan.script.tree) if getattr(node, "id", "") == name.id]
    for maker in makers:
        statement = plan.script.parents[maker.node]
        is_all = isinstance(statement, ast.Assign) and statement.targets == names[:1]
        if is_all and len(names) == 2 and plan.lines.statement(statement) == span_of(statement):
            plan.edits.removed.add(span_of(statement))
            plan.imports.forget(getattr(maker.node.func, "id", ""), maker.node)


def _pads(value: object) -> bool:
    """Tell whether an object or function of a script's own has a tokenizer pad what it gets."""
    own = value.own if isinstance(value, Made) else value
    return any(
        isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") == "pad"
        and bool(node.args)
        and getattr(node.args[0], "id", "") in {each.arg for each in function.args.args}
        for function in (ast.walk(own.node) if isinstance(own, Own | OwnClass) else ())
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
    )


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
    if functions and all(map(_takes_either, functions)):
        return
    is_lambda = isinstance(given.node, ast.Lambda) and isinstance(given.node.body, _LISTS)
    own = plan.script.own_calls
    if not is_lambda and not any(_returns_list(each, own) for each in functions):
        if call.is_old and any(_names(each, action.columns[:1]) for each in functions):
            old = f"{call.name}({action.keyword}=)"
            _map(plan, call, row, action.replaced(mapped=action.of_row), old)
        return
    function = f"({ITSELF})" if is_lambda else ITSELF
    old = f"{call.name}({action.keyword}=) that returns a list for a batch"
    of_row = all(map(_makes_one, [given.node] if is_lambda else functions))
    if of_row:
        old = f"{call.name}({action.keyword}=) that returns a list with the text of a row"
        only = action.of_row.replace("(row)", "(row)[0]")
        action = action.replaced(written=action.written_of_row, mapped=only)
    if any(_names(each, action.columns) for each in (*functions, given.node)):
        _map(plan, call, row, action, old)
        return
    plan.wrap(given.node, action.written.replace("{value}", function))
    call.is_old = True
    plan.changed(given.node, old, f"{action.keyword}=lambda row: …", f"it {since(row)}")
    plan.find(given.node.lineno, old, "", action.unless, ScriptOutcome.SILENT)


def _takes_either(function: ast.AST) -> bool:
    """Tell whether a function asks if it gets lists, and returns something else if not."""
    nodes = list(ast.walk(function))
    asks = any(
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "isinstance"
        and getattr(node.args[-1], "id", "") == "list"
        for node in nodes
    )
    return asks and sum(isinstance(node, ast.Return) for node in nodes) > 1


def _makes_one(function: ast.AST) -> bool:
    """Tell whether a function returns a list of one text, and takes no part of a column."""
    nodes = list(ast.walk(function))
    returned = [node.value for node in nodes if isinstance(node, ast.Return)]
    made = [function.body] if isinstance(function, ast.Lambda) else returned
    parts = (node.value for node in nodes if isinstance(node, ast.Subscript))
    return (
        all(isinstance(each, ast.List) and len(each.elts) == 1 for each in made)
        and not any(isinstance(node, ast.For | ast.comprehension) for node in nodes)
        and not any(isinstance(part, ast.Subscript) for part in parts)
    )


def _names(function: ast.AST, columns: Sequence[str]) -> bool:
    return any(getattr(node, "value", None) in columns for node in ast.walk(function))


def _map(plan: Plan, call: CallPlan, row: Adjusted, action: Wrapped, old: str) -> None:
    """Call a function with the batches of datasets whose columns would be used in its place."""
    function = call.keywords[action.keyword].node
    rows = [call.keywords[name] for name in action.datasets if name in call.keywords]
    are_named = isinstance(function, ast.Name) and all(
        isinstance(each.node, ast.Name) and _is_dataset(each) for each in rows
    )
    if not rows or not are_named:
        plan.remark(function, old, f"{since(row)}; {action.unless}")
        return
    for each in rows:
        source = action.mapped.replace("{value}", plan.lines.source(function))
        plan.wrap(each.node, source.replace("{rows}", plan.lines.source(each.node)))
    call.remove(action.keyword)
    plan.changed(function, old, "….map(…)", f"it {since(row)}, and rows have other columns")


def _returns_list(function: ast.AST, own: Mapping[ast.AST, ast.AST], depth: int = 0) -> bool:
    """Tell whether a function of the script's returns a list that it, or one it calls, makes.

    Args:
        function: the function.
        own: calls of functions of the script's own, and these.
        depth: how many call each other.
    """
    made: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, _LISTS):
            made.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return any(
        isinstance(node, ast.Return)
        and (
            isinstance(node.value, _LISTS)
            or (isinstance(node.value, ast.Name) and node.value.id in made)
            or (
                node.value is not None
                and node.value in own
                and depth < DEEPEST
                and _returns_list(own[node.value], own, depth + 1)
            )
        )
        for node in ast.walk(function)
    )


class _Column:
    """The column of datasets that an old keyword of a trainer names, or that is surely meant."""

    def __init__(
        self,
        plan: Plan,
        call: CallPlan,
        row: Adjusted,
        action: OneColumn,
        calls: Mapping[int, CallPlan],
    ) -> None:
        self._plan, self._call, self._row, self._action = plan, call, row, action
        self._named = call.call.keywords.get(action.keyword)
        self._configured, self._is_old = None, call.is_old
        args = call.keywords.get("args")
        for value in args.values if args is not None else ():
            if isinstance(value, Made) and value.call is not None:
                self._configured = value.call.keywords.get(action.keyword)
                configuration = calls.get(id(value.call.node))
                self._is_old |= configuration is not None and configuration.is_old

    def select(self) -> None:
        """Leave the column alone, or say that this has to be done."""
        if (
            self._action.keyword in self._call.keywords
            or self._action.unless in self._call.keywords
            or any(
                getattr(node, "value", None) == _UNPREPARED
                for node in ast.walk(self._plan.script.tree)
            )
        ):
            return
        for name in self._action.datasets:
            given = self._call.keywords.get(name)
            if given is not None and given.node is not None:
                self._select(name, given)

    def _select(self, name: str, given: Given) -> None:
        column = self._known(given)
        if isinstance(column, str) and _is_dataset(given):
            self._write(name, given, column)
        elif self._named is not None and given.value is not None:
            shown = self._plan.lines.source(self._named.node)
            because = (
                "may have other columns, which have a meaning since "
                f"{release(self._row.gone)}; pass "
                f"{self._text(given)}.select_columns([{shown}])"
            )
            self._plan.remark(given.node, f"{self._call.name}({name}=)", because)
        elif self._configured is not None and self._is_old and _is_dataset(given):
            of_file, column = self._configured.file, self._configured.value
            if column is None or ((columns := _columns_made(given)) and "prompt" not in columns):
                return
            shown = rendered(column) if of_file else self._plan.lines.source(self._configured.node)
            because = (
                f"{self._told()}: if there is a column prompt beside {shown}, pass "
                f"{self._text(given)}.select_columns([{shown}])"
            )
            line = given.node.lineno
            self._plan.find(line, f"{self._call.name}({name}=)", "", because, ScriptOutcome.SILENT)

    def _known(self, given: Given) -> object:
        """Return the column that is meant; None if the script does not show it."""
        if self._named is not None:
            return self._named.value
        names = (
            node.arg if isinstance(node, ast.keyword) else getattr(node, "attr", None)
            for node in ast.walk(self._plan.script.tree)
        )
        if not self._is_old or not _OTHER_COLUMNS.isdisjoint(names):
            return None
        meant = self._configured.value if self._configured is not None else "text"
        columns = _columns_made(given)
        if {meant, "prompt"} <= columns and columns.isdisjoint({"completion", "input_ids"}):
            return meant
        return _known_column(given, self._action) if self._call.is_old else None

    def _write(self, name: str, given: Given, column: str) -> None:
        selected = f'select_columns(["{column}"])'
        simple = isinstance(given.node, ast.Name | ast.Call | ast.Subscript)
        self._plan.wrap(given.node, f"{ITSELF if simple else f'({ITSELF})'}.{selected}")
        self._call.is_old = True
        named = f"{self._action.keyword}={column!r}" if self._named is not None else "other columns"
        old = f"{self._call.name}({name}=) with {named}"
        self._plan.changed(given.node, old, f"{name}=….{selected}", self._told())

    def _told(self) -> str:
        return f"its other columns have a meaning since {release(self._row.gone)}"

    def _text(self, given: Given) -> str:
        return self._plan.lines.in_parentheses(given.node)


def _known_column(given: Given, action: OneColumn) -> str | None:
    """Return the column that is meant of a dataset that is well known."""
    columns = set()
    for value in given.values:
        loaded = value.call if isinstance(value, Made) else None
        arguments = loaded.positional if loaded is not None else ()
        columns.add(action.known.get(str(arguments[0].value)) if arguments else None)
    return columns.pop() if len(columns) == 1 else None


def _columns_made(given: Given) -> frozenset[Any]:
    """Return the columns of a dataset that the script makes of a dictionary."""
    (made,) = given.values if len(given.values) == 1 else (None,)
    call = made.call if isinstance(made, Made) else None
    content = call.positional[0].node if call is not None and call.positional else None
    if isinstance(content, ast.List) and content.elts:
        content = content.elts[0]
    elif isinstance(content, ast.ListComp):
        content = content.elt
    is_made = call is not None and call.method in ("from_dict", "from_list")
    if not is_made or not isinstance(content, ast.Dict):
        return frozenset()
    return frozenset(key.value for key in content.keys if isinstance(key, ast.Constant))


def _is_dataset(given: Given) -> bool:
    classes = {value.class_name if isinstance(value, Made) else "" for value in given.values}
    return classes == {"datasets.Dataset"}


def _rename_columns(plan: Plan, row: Adjusted, action: Columns) -> None:
    """Rename columns that the script makes itself, wherever it names them."""
    found = [
        node
        for node in ast.walk(plan.script.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value in {**action.names, **action.batch}
    ]
    parents = plan.script.parents
    makes = any(isinstance(parents.get(node), ast.Dict | ast.Subscript) for node in found)
    if not makes:
        return
    for node in found:
        name, read = str(node.value), parents.get(node)
        if name in action.batch and isinstance(read, ast.Subscript) and _is_batch(plan, read):
            new = plan.lines.source(read.value) + action.batch[name]
            plan.edits.sources[span_of(read)] = new
            plan.changed(read, plan.lines.source(read), new, f"it {since(row)}")
        if name not in action.names or span_of(read or node) in plan.edits.sources:
            continue
        new = action.names[name]
        quote = plan.lines.source(node)[:1]
        plan.edits.sources[span_of(node)] = f"{quote}{new}{quote}"
        plan.changed(node, f"column {name}", new, f"it {since(row)}")


def _is_batch(plan: Plan, read: ast.Subscript) -> bool:
    """Tell whether what is read from is what a collator makes, and no row of a dataset."""
    name = read.value.id if isinstance(read.value, ast.Name) else ""
    functions = [node for node in plan.script.around(read) if isinstance(node, ast.FunctionDef)]
    if any(node.name in _OF_BATCHES for node in functions):
        return name in {each.arg for node in functions for each in node.args.args}
    return any(
        isinstance(node, ast.For)
        and getattr(node.target, "id", "") == name
        and _LOADER in ast.unparse(node.iter).lower()
        for node in ast.walk(functions[-1] if functions else plan.script.tree)
    )

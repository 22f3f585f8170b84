"""What runs as it is and gives other results than it did."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from ...legacy.call_sites import CallSiteSource, called
from ...legacy.changes import OtherResults
from ...legacy.converting.defaults import difference
from ...legacy.converting.read_as_ids import is_read_as_ids
from ...legacy.decisions import gives_other_results, is_newer, is_relied_on
from ...legacy.versions.due import MethodRows
from ...legacy.wording import release
from ..findings import ScriptOutcome
from ..reading.expressions import DEEPEST
from ..reading.script import Given, Script, ScriptCall
from ..reading.values import Constant, Made, flat
from .calls import CallPlan
from .command_lines import READING
from .edits import span_of
from .plan import Plan
from .standin import argument_list, known_value, rendered

_DECODING = frozenset({"batch_decode", "decode"})
_PREDICTIONS, _FILLER = "predictions", "-100"
_TOKENIZER, _PROCESSOR = "tokenizer", "processor"


def plan_silent(plan: Plan, call: CallPlan) -> None:
    """Report for a call behaviour and defaults that changed without an error."""
    given = {name: each.value for name, each in {**call.call.keywords, **call.keywords}.items()}
    given = {**first_argument(call.call, call.rows), **given}
    for row in call.rows.behaviours:
        if row.silent is not None and concerns(row.silent, given, plan.script, call.call):
            if row.silent.unless and not call.call.complete:
                continue  # what is not seen may say it
            text = f"since {release(row.gone)} it {row.silent.told}"
            decoding = decoding_calls(plan.script) if row.silent.decoded else ()
            for node in decoding:
                because = f"{row.silent.decoded}, since {release(row.gone)}"
                if not _replace_filler(plan, node, because):
                    plan.remark(node, called(node), because)
            if decoding:
                continue
            if row.silent.of_older and row.silent.write and not plan.edits:
                continue
            if row.silent.write and call.call.complete:
                written = {name: rendered(value) for name, value in row.silent.write.items()}
                for name, value in written.items():
                    call.put(name, value)
                plan.changed(call.call.node, call.name, argument_list(written), text)
                continue
            if row.silent.raises and (plan.edits or not row.silent.of_older):
                because = f"{row.silent.told}, since {release(row.gone)}"
                plan.remark(call.call.node, call.name, because)
                continue
            if row.silent.for_ids and call.call.complete:
                source = CallSiteSource(plan.script.tree, plan.script.parents)
                reads_ids = is_read_as_ids(source, call.call.node)
                if reads_ids:
                    plan.edits.added[span_of(call.call.node)][row.silent.for_ids] = "False"
                    new = f"{call.name}({row.silent.for_ids}=False)"
                    plan.changed(call.call.node, call.name, new, text)
                if reads_ids is not None:
                    continue
            plan.find(call.call.line, call.name, "", text, ScriptOutcome.SILENT)
    if call.call.method in READING and plan.edits:
        text = "gets the command line of an older script; look for old flags there"
        plan.find(call.call.line, call.name, "", text, ScriptOutcome.SILENT)
    if call.call.method != "__init__":
        return
    told = [
        row
        for row in call.rows.defaults.values()
        if is_relied_on(row, {*call.added, *given}, given.get)
        and not is_newer(plan.script.tree, row)
    ]
    if told and call.call.complete:
        text = "; ".join(difference(row) for row in told)
        plan.find(
            call.call.line, call.name, "", f"{text}; write what is meant", ScriptOutcome.SILENT
        )


def _replace_filler(plan: Plan, node: ast.Call, because: str) -> bool:
    """Replace what fills predictions up before they are decoded; False if names do not show how."""
    predicted, decoder = node.args[0], plan.lines.source(node.func).rpartition(".")[0]
    tokenizer = f"{decoder}.tokenizer" if decoder.endswith(_PROCESSOR) else decoder
    arrays = [
        alias.asname or alias.name
        for statement in plan.script.tree.body
        if isinstance(statement, ast.Import)
        for alias in statement.names
        if alias.name == "numpy"
    ]
    is_known = isinstance(predicted, ast.Name) and tokenizer.endswith(_TOKENIZER)
    if not is_known or not arrays or plan.lines.is_local(node):
        return False
    name = plan.lines.source(predicted)
    filled = f"{arrays[0]}.where({name} != {_FILLER}, {name}, {tokenizer}.pad_token_id)"
    plan.edits.before[plan.lines.statement(node)].append(f"{name} = {filled}")
    plan.changed(node, called(node), filled, because)
    return True


def first_argument(call: ScriptCall, rows: MethodRows) -> dict[str, Any]:
    """Return the value of a function's first argument by the keyword that rows are about."""
    if call.method or not call.positional:
        return {}
    silent = (row.silent for row in rows.behaviours if row.silent is not None)
    return {name: call.positional[0].value for told in silent for name in told.only}


def concerns(
    silent: OtherResults, given: Mapping[str, Any], script: Script, call: ScriptCall
) -> bool:
    """Tell whether a call gives other results, as its arguments and the script show."""
    by_position = zip(silent.positional, call.positional, strict=False)
    given = {**{name: each.value for name, each in by_position}, **given}
    if silent.constructed or not gives_other_results(silent, given):
        return False  # of a constructor, its class is told
    if silent.made or silent.made_with:
        makers = list(_makers(call))
        if silent.made and not any(maker.name.endswith(silent.made) for maker in makers):
            return False
        if silent.made_with and not any(
            _shown_value(maker.keywords[name]) == value
            for name, value in silent.made_with.items()
            for maker in makers
            if name in maker.keywords
        ):
            return False
    if silent.unless_set and any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and node.attr in silent.unless_set
        for node in ast.walk(script.tree)
    ):
        return False
    if any(_is_former(node, silent.unless_own) for node in ast.walk(script.tree)):
        return False
    if silent.named:
        names = _names(script)
        if not any(map(names.__contains__, silent.named)):
            return False
        if any(map(names.__contains__, silent.unnamed)):
            return False
    return not silent.listed or any(
        isinstance(value, Constant) and getattr(value.node, "value", None) == listed
        for name, listed in silent.listed.items()
        for call in script.calls
        if name in call.keywords
        for value in flat(call.keywords[name].values)
    )


def _is_former(node: ast.AST, methods: Mapping[str, object]) -> bool:
    """Tell whether a node defines one of these methods without the parameter it has today."""
    return (
        isinstance(node, ast.FunctionDef)
        and node.name in methods
        and methods[node.name] not in {parameter.arg for parameter in node.args.args}
    )


def _makers(call: ScriptCall, depth: int = 0) -> Iterator[ScriptCall]:
    """Yield the calls that made the arguments of a call, and what those were made of."""
    for given in (*call.positional, *call.keywords.values()):
        for value in given.values:
            if isinstance(value, Made) and value.call is not None and depth < DEEPEST:
                yield value.call
                yield from _makers(value.call, depth + 1)


def _shown_value(given: Given) -> object:
    """Return a literal, or the name of the member of an enumeration."""
    return given.node.attr if isinstance(given.node, ast.Attribute) else known_value(given)


def _names(script: Script) -> str:
    """Return all names of a script, and what may be environment variables."""
    nodes = list(ast.walk(script.tree))
    texts = (node.value for node in nodes if isinstance(node, ast.Constant))
    return " ".join(
        [
            *(text for text in texts if isinstance(text, str) and text.isupper()),
            *(node.id for node in nodes if isinstance(node, ast.Name)),
            *(node.attr for node in nodes if isinstance(node, ast.Attribute)),
        ]
    )


def decoding_calls(script: Script) -> list[ast.Call]:
    """Return the calls in which functions for metrics decode the predictions as they come."""
    found: list[ast.Call] = []
    for function in ast.walk(script.tree):
        if not isinstance(function, ast.FunctionDef) or not function.args.args:
            continue
        predicted, replaced = _predictions(function)
        for node in ast.walk(function):
            if not isinstance(node, ast.Call) or called(node) not in _DECODING or not node.args:
                continue
            name = getattr(node.args[0], "id", getattr(node.args[0], "attr", ""))
            if name in predicted | {_PREDICTIONS} and name not in replaced:
                found.append(node)
    return found


def _predictions(function: ast.FunctionDef) -> tuple[set[str], set[str]]:
    """Return the variables for a trainer's predictions, and those without what fills them up."""
    given = function.args.args[-1].arg, function.args.args[0].arg
    predicted: set[str] = set()
    replaced: set[str] = set()
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign):
            continue
        target, value = node.targets[0], node.value
        if _FILLER in ast.unparse(node):
            replaced.update(part.id for part in ast.walk(target) if isinstance(part, ast.Name))
        elif isinstance(target, ast.Tuple) and getattr(value, "id", "") in given:
            predicted.add(getattr(target.elts[0], "id", ""))
        elif getattr(value, "attr", "") == _PREDICTIONS:
            predicted.add(getattr(target, "id", ""))
    return predicted, replaced

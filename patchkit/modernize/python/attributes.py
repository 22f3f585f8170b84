"""Attributes that are read from, or set on, objects of the libraries."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from ...legacy.call_sites import called
from ...legacy.changes import Assigned, Attribute, Keyword
from ...legacy.decisions import UNKNOWN, Template, decide, decide_read
from ...legacy.wording import since
from ..reading.expressions import generation_settings
from ..reading.kinship import OF_TWO_MODELS, ancestors
from ..reading.script import ScriptAttribute
from .conversion import decide_in_source, source_of
from .edits import span_of
from .plan import Plan
from .standin import rendered

_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.NotEq: operator.ne,
}
_ALONE = (ast.If, ast.While, ast.Assign, ast.Return, ast.keyword)
"""What an expression needs no parentheses in."""
_CHOSEN = "write here what its flag said"
_OF_BATCHES, _PAIRING = "batch_encode_plus", ("zip", "tuple")
_CONFIG = "config"
_CONFIGURATION = "transformers.PreTrainedConfig"
_TOKENS = frozenset({"bos_token_id", "decoder_start_token_id", "eos_token_id", "pad_token_id"})
"""What `generate` reads of `generation_config`, while the loss reads it of `config`."""


def plan_attributes(plan: Plan) -> None:
    """Read and set old attributes by their current names."""
    for found in plan.script.attributes:
        row = plan.attributes_of(found.owner).get(found.name)
        if found.is_set:
            if not found.of_class:
                _set(plan, found)
        elif (
            row is not None
            and row.of_class == found.of_class
            and not _may_be_its_own(plan, found, row)
        ):
            _read(plan, found, row)
    for found in plan.script.own_fields:
        row, keyword = plan.attributes_of(found.owner).get(found.name), _keyword(plan, found)
        if row is not None and keyword is not None and decide(keyword).keeps_value:
            _read(plan, found, row)  # the field of the script's own class is renamed, too
    for call in plan.script.calls:
        function = call.node.func
        if call.method and isinstance(function, ast.Attribute) and function.attr == call.method:
            row = plan.attributes_of(call.name).get(call.method)
            if row is not None and not row.of_class and not plan.script.asks_first(function):
                _read(plan, ScriptAttribute(call.name, call.method, call.line, function), row)


def _may_be_its_own(plan: Plan, found: ScriptAttribute, row: Attribute) -> bool:
    """Tell whether a model's own configuration may have what all configurations had."""
    if found.owner in OF_TWO_MODELS.values() and found.name in _TOKENS:
        return any(
            other.is_set and other.name == found.name and other.line < found.line
            for other in plan.script.attributes
        )
    is_of_each = _CONFIGURATION in row.owners and not row.of_class
    if not is_of_each or row.name in generation_settings():
        return False
    made = found.made_by
    if made is None or made.method != "__init__" or row.name in made.keywords:
        return True
    return made.name.lower() != _CONFIGURATION.lower()


def _keyword(plan: Plan, found: ScriptAttribute) -> Keyword | None:
    methods = plan.due.methods(ancestors(found.owner))
    return methods["__init__"].keywords.get(found.name) if "__init__" in methods else None


def _read(plan: Plan, found: ScriptAttribute, row: Attribute) -> None:
    decision = decide_read(row)
    old = f"{found.owner.rpartition('.')[2]}.{found.name}"
    if decision.refusal:
        plan.refuse(found.node, f"{old}()" if row.is_method else old, row, decision.refusal)
        return
    if row.context and _unwrap(plan, found, row):
        inner = getattr(found.node, "value", found.node)
        new = row.context.format(object=plan.lines.source(inner))
        plan.changed(found.node, old, new, f"it {since(row)}; {decision.advice}")
        return
    template = decision.arguments.get("object")
    written = template.source if isinstance(template, Template) else ""
    in_text = plan.lines.is_in_text(found.node)
    is_other = found.name == _OF_BATCHES and not _is_batch_of_texts(plan, found.node)
    if not written or is_other or (in_text and not _may_stand_in_text(plan, found, written)):
        plan.remark(found.node, old, f"{since(row)}; {decision.advice}")
        return
    given = found.made_by.keywords.get(found.name) if found.made_by is not None else None
    if given is not None and "{object}" not in written and given.value is not UNKNOWN:
        source = rendered(given.value)
    else:
        source = written.format(object=plan.lines.source(found.node.value))
        if written[:1] == "(" and isinstance(plan.script.parents.get(found.node), _ALONE):
            source = source[1:-1]
    plan.edits.sources[span_of(found.node)] = source
    plan.changed(found.node, old, source, f"it {since(row)}; {decision.advice}")
    is_handed_on = isinstance(plan.script.parents.get(found.node), ast.keyword)
    if found.made_by is None and is_handed_on and "{object}" not in written:
        # A command line may have said something else.
        plan.put_remark(found.node, f"{old} {since(row)}; {_CHOSEN}")
    if "{object}" not in written and not in_text:
        _simplify(plan, found.node)


def _is_batch_of_texts(plan: Plan, method: ast.Attribute) -> bool:
    """Tell whether a method for batches gets texts by position, and no pairs that can be seen."""
    call = plan.script.parents.get(method)
    if not isinstance(call, ast.Call) or not call.args:
        return False
    batch = call.args[0]
    parts = batch.elts if isinstance(batch, ast.List) else [getattr(batch, "elt", batch)]
    return not any(
        isinstance(part, ast.Tuple) or (isinstance(part, ast.Call) and called(part) in _PAIRING)
        for part in (*parts, *getattr(batch, "args", ()))
    )


def _unwrap(plan: Plan, found: ScriptAttribute, row: Attribute) -> bool:
    """Let the block of a former context stand without it; False if a person must do that."""
    parents, written = plan.script.parents, ast.unparse(found.node.value)
    item = parents.get(parents[found.node])
    block = parents.get(item) if isinstance(item, ast.withitem) else None
    if not isinstance(block, ast.With) or len(block.items) > 1:
        return False
    objects = [
        node
        for statement in block.body
        for node in ast.walk(statement)
        if isinstance(node, ast.expr) and ast.unparse(node) == written
    ]
    keyword = row.context.removesuffix("=")
    handed = [_handed(node, parents.get(node)) for node in objects]
    if block.body[0].lineno == block.lineno or (keyword != row.context and None in handed):
        return False
    for node, given in zip(objects, handed, strict=True):
        if keyword == row.context:
            source = row.context.format(object=plan.lines.source(node))
            plan.edits.sources[span_of(node)] = source
        elif given is not None:
            plan.edits.keywords[span_of(given)] = keyword
    plan.edits.removed.add(span_of(block))
    return True


def _handed(function: ast.expr, call: ast.AST | None) -> ast.expr | ast.keyword | None:
    """Return the text that a tokenizer is called with; None if that is not sure."""
    if not isinstance(call, ast.Call) or call.func is not function or len(call.args) > 1:
        return None
    named = (keyword for keyword in call.keywords if keyword.arg == "text")
    return call.args[0] if call.args else next(named, None)


def _simplify(plan: Plan, node: ast.expr) -> None:
    """Write a condition without a part that is known now; leave a block out that never runs."""
    whole, parents = node, plan.script.parents
    while isinstance(parent := parents.get(whole), ast.BoolOp | ast.UnaryOp | ast.Compare):
        whole = parent
    known = _condition(plan, whole)
    if known == plan.lines.source(whole) or not _is_truth(plan, node, whole):
        return
    block = parents.get(whole)
    if isinstance(block, ast.IfExp) and block.test is whole and isinstance(known, bool):
        taken = block.body if known else block.orelse
        plan.edits.sources[span_of(block)] = plan.lines.source(taken)
        return
    plan.edits.sources[span_of(whole)] = str(known)
    if known is not False or not isinstance(block, ast.If) or block.test is not whole:
        return
    beside = getattr(parents.get(block), "body", ())
    is_removable = block in beside and len(beside) > 1 and not block.orelse
    if is_removable and not plan.lines.has_comments(block):
        plan.edits.removed.add(span_of(block))


def _is_truth(plan: Plan, node: ast.expr, whole: ast.expr) -> bool:
    """Tell whether it matters of an expression only whether it is true."""
    is_tested = getattr(plan.script.parents.get(whole), "test", None) is whole
    is_truth = isinstance(_literal(plan.lines.source(node)), bool)
    return is_tested or is_truth or isinstance(whole, ast.Compare)


def _condition(plan: Plan, node: ast.expr) -> bool | str:
    """Return whether a condition holds; its source if that is not known."""
    source = plan.lines.source(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        known = _condition(plan, node.operand)
        return not known if isinstance(known, bool) else source
    if isinstance(node, ast.BoolOp):
        is_or = isinstance(node.op, ast.Or)
        parts = [_condition(plan, each) for each in node.values]
        open_parts = [part for part in parts if not isinstance(part, bool)]
        if is_or in parts or not open_parts:
            return is_or if is_or in parts else not is_or
        if len(open_parts) == len(parts):
            return source
        return (" or " if is_or else " and ").join(open_parts)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = _literal(plan.lines.source(node.left)), _literal(node.comparators[0])
        compare = _COMPARED.get(type(node.ops[0]))
        if compare is not None and isinstance(left, int) and isinstance(right, int):
            return bool(compare(left, right))
    literal = _literal(source) if span_of(node) in plan.edits.sources else UNKNOWN
    return source if literal is UNKNOWN else bool(literal)


def _literal(source: str | ast.expr) -> Any:
    try:
        return ast.literal_eval(source)
    except (ValueError, SyntaxError):
        return UNKNOWN


def _may_stand_in_text(plan: Plan, found: ScriptAttribute, written: str) -> bool:
    """Tell whether a formatted text can hold what is written; Python may misplace what it has."""
    stands_there = plan.lines.source(found.node) == ast.unparse(found.node)
    return stands_there and not set("'\"\\") & set(written)


def _set_beside(plan: Plan, found: ScriptAttribute, assigned: Assigned, old: str) -> None:
    """Set on another attribute of a model what its configuration had."""
    model, dot, config = plan.lines.source(found.node.value).rpartition(".")
    if assigned.beside and dot and config == _CONFIG:
        target = f"{model}.{assigned.beside}.{assigned.name}"
        plan.edits.sources[span_of(found.node)] = target
        plan.changed(found.node, old, f"{target} =", f"it {since(assigned)}")
    else:
        plan.remark(found.node, old, f"{since(assigned)}; {assigned.advice}")


def _set_for_generation(plan: Plan, found: ScriptAttribute, old: str) -> None:
    """Set a token for `generate`, too, unless a script does so."""
    model, dot, config = plan.lines.source(found.node.value).rpartition(".")
    target = f"{model}.generation_config.{found.name}"
    is_there = f"{target} = " in "".join(map(ast.unparse, plan.script.tree.body))
    statement = plan.script.parents.get(found.node)
    if is_there or not dot or config != _CONFIG or not isinstance(statement, ast.Assign):
        return
    source = f"{target} = {plan.lines.source(statement.value)}"
    plan.edits.after[plan.lines.statement(statement)].append(source)
    plan.changed(found.node, old, source, "generate has not read it there since Transformers 5.0.0")


def _set(plan: Plan, found: ScriptAttribute) -> None:
    """Set what a keyword of the constructor is called today."""
    old = f"{found.owner.rpartition('.')[2]}.{found.name} ="
    for assigned in plan.due.of(Assigned):
        if assigned.name == found.name and set(assigned.owners) & set(ancestors(found.owner)):
            _set_beside(plan, found, assigned, old)
    if found.owner in OF_TWO_MODELS.values() and found.name in _TOKENS:
        _set_for_generation(plan, found, old)
    row = _keyword(plan, found)
    if row is None or not isinstance(plan.script.parents.get(found.node), ast.Assign):
        return
    if found.given is None:
        plan.remark(found.node, old, f"{since(row)}; {decide(row).advice}")
        return
    decision, _ = decide_in_source(plan, row, found.given, {})
    if decision.refusal:
        text = f"{old} {plan.lines.source(found.given.node)}"
        plan.refuse(found.node, text, row, decision.refusal)
    elif len(decision.arguments) == 1:
        ((to, value),) = decision.arguments.items()
        target = f"{plan.lines.source(found.node.value)}.{to}"
        plan.edits.sources[span_of(found.node)] = target
        source = source_of(plan, value, found.given)
        if source != plan.lines.source(found.given.node):
            plan.edits.sources[span_of(found.given.node)] = source
        plan.changed(found.node, old, f"{to} = {source}", f"it {since(row)}")
    elif decision.undecided:
        plan.remark(found.node, old, f"{since(row)}. {decision.undecided}")
    elif decision.arguments or decision.settings or decision.environment or decision.by:
        plan.remark(found.node, old, f"{since(row)}; {decision.advice}")
    # Else the attribute is the script's own, and nothing depends on it.

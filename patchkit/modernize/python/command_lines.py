"""Command lines that a script writes down, as a list for a parser of Transformers or TRL."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from ...legacy.converting.adjusting.command_lines import value_of
from ...legacy.wording import LEAVE_OUT
from ..findings import ScriptOutcome
from ..reading.script import Given, ScriptCall
from .edits import span_of
from .plan import Plan
from .readers import reader_of
from .settings import Changed, changes

READING = frozenset({"parse_args_and_config", "parse_args_into_dataclasses"})
_ARGS, _WORDS = "args", {"true": True, "false": False}


@dataclass(frozen=True)
class _Flag:
    """A flag of a list.

    Args:
        node: where it stands.
        text: the flag.
        value: what it says; a text with a brace if only the run knows.
        behind: what follows it, if that is no flag.
    """

    node: ast.expr
    text: str
    value: Any
    behind: ast.expr | None


def plan_command_line(plan: Plan, call: ScriptCall) -> None:
    """Give the flags of a list their current names."""
    given = call.keywords.get(_ARGS, next(iter(call.positional), None))
    parser = _parser(plan, call)
    if call.method not in READING or given is None or parser is None:
        return
    lists = [node for node in (given.node, *_assigned(plan, given)) if isinstance(node, ast.List)]
    reader = reader_of([parser])
    if len(lists) != 1 or reader is None:
        return
    flags = _flags(lists[0])
    # A parser's own `--config` names a file of settings; TRL once had a setting of that name, too.
    settings = {name: flag.value for name, flag in flags.items() if name != "config"}
    for changed in changes(settings, reader, plan.due, abbreviated=True):
        _write(plan, changed, flags[changed.name])


def _parser(plan: Plan, call: ScriptCall) -> ScriptCall | None:
    made = [
        each
        for each in plan.script.calls
        if each.method == "__init__" and each.name == call.name and each.line <= call.line
    ]
    return made[-1] if len(made) == 1 else None


def _assigned(plan: Plan, given: Given) -> list[ast.expr]:
    """Return what a variable is set to, if that happens once."""
    name = getattr(given.node, "id", "")
    found = [
        node.value
        for node in ast.walk(plan.script.tree)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name
    ]
    return found if len(found) == 1 else []


def _flags(words: ast.List) -> dict[str, _Flag]:
    """Return the flags of a list by name, with underscores."""
    found: dict[str, _Flag] = {}
    for place, word in enumerate(words.elts):
        text = _flag(word)
        if text:
            behind = words.elts[place + 1 : place + 2]
            value = behind[0] if behind and not _flag(behind[0]) else None
            known = str(getattr(value, "value", "{value}"))
            read = True if value is None else value_of(known, _WORDS)
            found[text.removeprefix("--").replace("-", "_")] = _Flag(word, text, read, value)
    return found


def _flag(node: ast.expr) -> str:
    """Return a flag that is written down alone; empty for another expression."""
    text = node.value if isinstance(node, ast.Constant) else None
    return text if isinstance(text, str) and text.startswith("--") and "=" not in text else ""


def _write(plan: Plan, changed: Changed, flag: _Flag) -> None:
    new, quote = dict(changed.new or {}), plan.lines.source(flag.node)[0]
    is_one = changed.outcome is ScriptOutcome.CHANGED and len(new) == 1 and not changed.without
    name, current = next(iter(new.items()), ("", None))
    is_same = str(current) == str(flag.value)
    if is_one and (is_same or isinstance(flag.behind, ast.Constant)):
        plan.edits.sources[span_of(flag.node)] = f"{quote}--{name}{quote}"
        if not is_same and flag.behind is not None:
            plan.edits.sources[span_of(flag.behind)] = f"{quote}{current}{quote}"
        plan.changed(flag.node, flag.text, f"--{name}", f"it {changed.because}")
        return
    attributes = (getattr(node, "attr", "") for node in ast.walk(plan.script.tree))
    above = plan.lines.comments_above(plan.lines.statement(flag.node))
    is_read = changed.name in attributes or any(flag.text in comment for comment in above)
    is_dropped = changed.new == {} and changed.outcome is ScriptOutcome.CHANGED
    if is_dropped and not is_read and isinstance(flag.behind, ast.Constant | None):
        behind = () if flag.behind is None else (flag.behind,)
        plan.edits.removed.update(map(span_of, (flag.node, *behind)))
        plan.changed(flag.node, flag.text, LEAVE_OUT, f"it {changed.because}")
        return
    because, outcome = changed.because, changed.outcome
    if outcome is ScriptOutcome.CHANGED:
        instead = " ".join(f"--{name} {current}" for name, current in new.items())
        because += f"; write {instead}" if instead else "; leave it out"
        outcome = ScriptOutcome.REMARKED
    plan.remark(flag.node, flag.text, because, outcome)

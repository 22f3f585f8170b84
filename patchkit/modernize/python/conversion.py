"""What to write for an old keyword, as source."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from ...legacy.changes import Keyword
from ...legacy.decisions import UNKNOWN, Decision, Template, decide
from ...legacy.wording import LEAVE_OUT
from ..reading.script import Given
from ..reading.values import Made
from .plan import Plan
from .standin import Construction, Expression, Standin, decided, known_value, rendered

_PLACEHOLDER = re.compile(r"\{(\w+(?:\.\w+)*)\}")
_ITSELF = "{value}"


def decide_in_source(
    plan: Plan,
    row: Keyword,
    given: Given,
    others: Mapping[str, Given],
    unknown: Collection[str] = (),
) -> tuple[Decision, frozenset[str]]:
    """Return what to do about an old keyword, and other arguments that go with it.

    Args:
        plan: the changes of the script.
        row: the row of the table.
        given: the old value.
        others: the other arguments.
        unknown: those of them that what is called does not name.
    """
    values = {name: as_value(plan, each) for name, each in others.items()}

    value = known_value(given)
    any_value = decide(row)
    if any_value.overruled and any_value.to in others:
        return _overruled(plan, any_value, value, others[any_value.to])
    by_value = decided(row, value, Standin(values, unknown))
    if value is UNKNOWN and not by_value[0].keeps_value and by_value[0].to in values:
        needless = _needless(plan, row, given, values, unknown)
        if needless is not None:
            return needless, frozenset()
    if given.value is UNKNOWN and value is not UNKNOWN and not by_value[0].refusal:
        # The variable stays in use where its value is put into another one.
        by_text = decided(row, UNKNOWN, Standin(values, unknown))
        templates = (*by_text[0].arguments.values(), *by_text[0].settings.values())
        if any(
            isinstance(template, Template) and template.source != _ITSELF for template in templates
        ):
            return by_text
    return by_value


def _overruled(
    plan: Plan, decision: Decision, value: Any, present: Given
) -> tuple[Decision, frozenset[str]]:
    """Return what to do about an old keyword beside one of today whose true value counts."""
    counts = known_value(present)
    if (counts is not UNKNOWN and counts) or (value is not UNKNOWN and not value):
        return decision.replaced(advice=LEAVE_OUT, arguments={}), frozenset()
    written = _ITSELF
    if counts is UNKNOWN:
        written = f"{plan.lines.in_parentheses(present.node)} or {_ITSELF}"
    arguments = {decision.to: Template(written)}
    return decision.replaced(arguments=arguments, undecided=""), frozenset({decision.to})


def _needless(
    plan: Plan,
    row: Keyword,
    given: Given,
    values: Mapping[str, Any],
    unknown: Collection[str],
) -> Decision | None:
    """Return what to do about a switch if the argument beside it says the same, on or off."""
    source = plan.lines.source(given.node)
    decisions = []
    for switch in (True, False):
        beside = {name: _with(source, switch, value) for name, value in values.items()}
        decision, _ = decided(row, switch, Standin(beside, unknown))
        if decision.refusal or decision.undecided or decision.arguments:
            return None
        decisions.append(decision)
    return decisions[0].replaced(advice=LEAVE_OUT)


def _with(source: str, switch: bool, value: Any) -> Any:
    """Return an argument in which an expression is known."""
    if isinstance(value, Expression) and value.source == source:
        return switch
    if isinstance(value, Construction):
        return Construction(
            value.name,
            {name: _with(source, switch, each) for name, each in value.settings.items()},
        )
    return value


def as_value(plan: Plan, given: Given) -> Any:
    """Return an argument as converters see it."""
    if given.value is not UNKNOWN:
        return given.value
    made = given.values[0] if len(given.values) == 1 else None
    call = made.call if isinstance(made, Made) and made.own is None else None
    if call is None or call.method != "__init__" or call.positional or not call.complete:
        return Expression(plan.lines.source(given.node))
    return Construction(
        call.name, {name: as_value(plan, argument) for name, argument in call.keywords.items()}
    )


def source_of(plan: Plan, value: Any, given: Given) -> str:
    """Return the source of a current value."""
    if value is UNKNOWN or value is known_value(given):
        return plan.lines.source(given.node)
    if isinstance(value, Template):
        return fill(plan, value.source, given)
    return rendered(value, lambda name: plan.spell(name, given.node))


def fill(plan: Plan, written: str, given: Given) -> str:
    """Put a value into the source that the table has for it."""

    def part(match: re.Match[str]) -> str:
        if match[1] != "value":
            return plan.spell(match[1], given.node)
        return plan.lines.source(given.node) if is_alone else plan.lines.in_parentheses(given.node)

    is_alone = written == _ITSELF
    return _PLACEHOLDER.sub(part, written)

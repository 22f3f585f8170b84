"""What old values are in today's keywords, as source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...legacy.changes import Converter
from ...legacy.errors import LegacyError
from ..findings import Outcome
from ..reading.script import NOT_LITERAL, Given
from ..reading.values import Made
from .plan import Plan
from .standin import Construction, Expression, Standin, UndecidedError, rendered

_PLACEHOLDER = re.compile(r"\{(\w+(?:\.\w+)*)\}")
WHO = "a person must decide, since that is known only when the script runs"


class CannotConvertError(Exception):
    """There is nothing to write; the message says why, or what to do.

    Args:
        because: the same.
        outcome: what that means for the script.
    """

    def __init__(self, because: str, outcome: Outcome = Outcome.REMARKED) -> None:
        super().__init__(because)
        self.because = because
        self.outcome = outcome


@dataclass(frozen=True)
class Converted:
    """What is written for an old value.

    Args:
        sources: today's keywords and their values.
        taken: other arguments that are part of these.
    """

    sources: Mapping[str, str]
    taken: frozenset[str] = frozenset()


def convert(
    plan: Plan,
    action: tuple[str, Converter, str],
    given: Given,
    arguments: Mapping[str, Given],
    unknown: frozenset[str] = frozenset(),
) -> Converted:
    """Return what is written for an old value.

    Args:
        plan: the changes of the script.
        action: the keyword of today, the converter of the table, and the source for a value that
            is not known.
        given: the old value.
        arguments: the other arguments.
        unknown: those of them that what is called does not name.

    Raises:
        CannotConvertError: the value has no counterpart, or is not known.
    """
    to, converter, written = action
    if given.value is NOT_LITERAL:
        if not written or to in arguments:
            raise CannotConvertError(f"{to} says it; {WHO}")
        return Converted({to: fill(plan, written, given)})
    values = {name: _value(plan, each) for name, each in arguments.items()}
    call = Standin(
        {name: value for name, value in values.items() if name not in unknown},
        {name: value for name, value in values.items() if name in unknown},
    )
    try:
        changed = converter(given.value, call)
    except LegacyError as error:
        raise CannotConvertError(str(error).removeprefix(": "), Outcome.GONE) from error
    except (UndecidedError, TypeError, ValueError, AttributeError, OSError) as error:
        raise CannotConvertError(f"{to} says it, with other arguments; {WHO}") from error

    def spell(name: str) -> str:
        return plan.spell(name, given.node)

    sources = {name: rendered(value, spell) for name, value in changed.items()}
    return Converted(
        sources, frozenset(values.keys() - call.arguments.keys() - call.unknown.keys())
    )


def _value(plan: Plan, given: Given) -> Any:
    """Return an argument as converters see it."""
    if given.value is not NOT_LITERAL:
        return given.value
    made = given.values[0] if len(given.values) == 1 else None
    call = made.call if isinstance(made, Made) and made.own is None else None
    if call is None or call.method != "__init__" or call.positional or not call.complete:
        return Expression(plan.lines.source(given.node))
    return Construction(call.name, {name: _value(plan, it) for name, it in call.keywords.items()})


def fill(plan: Plan, written: str, given: Given) -> str:
    """Put a value into the source that the table has for it."""

    def part(match: re.Match[str]) -> str:
        if match[1] != "value":
            return plan.spell(match[1], given.node)
        return plan.lines.source(given.node) if is_alone else plan.lines.in_parentheses(given.node)

    is_alone = written == "{value}"
    return _PLACEHOLDER.sub(part, written)

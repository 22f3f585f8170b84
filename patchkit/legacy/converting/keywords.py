"""Bring the keywords of a call, and their values, to the current ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..changes import Keyword, Value
from ..decisions import clash, decide, decide_value
from .call import Call, giving_later
from .configuration import configure
from .variables import put


def translate(call: Call, rows: Mapping[str, Keyword]) -> None:
    """Replace the keywords that the method does not have any more.

    Args:
        call: the call; its arguments change.
        rows: what the table knows, by the old keyword.

    Raises:
        LegacyError: a value has no meaning today, or the old keyword and the new one are both
            given.
    """
    settings: dict[str, Any] = {}
    for name in list(call.unknown):
        row = rows.get(name)
        if name not in call.unknown or row is None or not _has_target(call, row):
            continue  # another keyword took it along, or the method says what it thinks of it
        value = call.unknown.pop(name)
        for new, new_value in current_arguments(call, row, value, settings).items():
            _give(call, row, new, new_value)
    keeps = bool(call.kept) and "args" in call.method.keywords
    if settings or keeps:
        named = {
            row.name: None for row in rows.values() if decide(row).kept.keys() & call.kept.keys()
        }
        with giving_later({call.configuration_class: named}):
            configure(call, settings)
    if keeps:
        vars(call.arguments["args"]).update(call.kept)
        call.kept.clear()


def _has_target(call: Call, row: Keyword) -> bool:
    """Tell whether the installed release has what a keyword is called elsewhere."""
    decision = decide(row)
    if not decision.keeps_value or decision.in_configuration:
        return True
    return decision.to in call.method.keywords or call.method.takes_any


def current_arguments(
    call: Call, row: Keyword, value: Any, settings: dict[str, Any]
) -> Mapping[str, Any]:
    """Return what to pass instead of an old keyword.

    Args:
        call: the call; the use is noted.
        row: the row of the table.
        value: the old keyword's.
        settings: what belongs to the configuration goes there.

    Raises:
        LegacyError: the value has no meaning today.
    """
    decision = decide(row, value, call)
    shown = f"={value!r}" if decision.shows_value or decision.refusal else "="
    call.settle(row, decision, f"{call.name}({row.name}{shown})")
    settings.update(decision.settings)
    if decision.in_configuration:
        call.configured.add(row.name)
    for variable, said in decision.environment.items():
        put(variable, str(said))
    call.kept.update(decision.kept)
    return decision.arguments


def _give(call: Call, row: Keyword, name: str, value: Any) -> None:
    present = call.arguments.get(name, call.unknown.get(name))
    contradiction = clash(name, value, present)
    if contradiction:
        raise call.refuse(
            row, f"{call.name}({row.name}=, {name}=)", f"{row.name}= {contradiction}."
        )
    target = call.arguments if name in call.method.keywords else call.unknown
    if present is None or value is not None:
        target[name] = value


def rename_values(call: Call, rows: Iterable[Value]) -> None:
    """Replace values that have another name today; those in a list, too.

    Args:
        call: the call; its arguments change.
        rows: what the table knows.

    Raises:
        LegacyError: a value has no counterpart.
    """
    for row in rows:
        if row.name in call.arguments:
            decision = decide_value(row, call.arguments[row.name])
            if decision is not None:
                call.settle(row, decision, f"{call.name}({row.name}={row.value!r})")
                call.arguments.update(decision.arguments)

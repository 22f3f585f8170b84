"""Replace old keywords of a call, and old values, by the current ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..changes import Keyword, Value
from ..decisions import clash, decide, decide_value
from ..guarding.changed import set_variable
from .call import OldCall, giving_later
from .configuration import configure


def translate(call: OldCall, rows: Mapping[str, Keyword]) -> None:
    """Replace the keywords of a call that the method no longer has; `rows` are by old keyword.

    Raises:
        LegacyError: a value has no meaning today, or the old keyword and the new one are both
            given.
    """
    settings: dict[str, Any] = {}
    for name in list(call.unknown):
        row = rows.get(name)
        if name not in call.unknown or row is None or not _has_target(call, row):
            continue  # another keyword took it along, or the method itself refuses it
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


def _has_target(call: OldCall, row: Keyword) -> bool:
    """Tell whether the installed release has the new name of a keyword."""
    decision = decide(row)
    if not decision.keeps_value or decision.in_configuration:
        return True
    return decision.to in call.method.keywords or call.method.takes_any


def current_arguments(
    call: OldCall, row: Keyword, value: Any, settings: dict[str, Any]
) -> Mapping[str, Any]:
    """Return the arguments to pass instead of an old keyword, and note its use.

    Args:
        call: the call.
        row: the row of the table.
        value: the value of the old keyword.
        settings: gets the fields of the configuration.

    Raises:
        LegacyError: the value has no meaning today.
    """
    decision = decide(row, value, call)
    shown = f"={value!r}" if decision.shows_value or decision.refusal else "="
    call.settle(row, decision, f"{call.name}({row.name}{shown})")
    settings.update(decision.settings)
    if decision.in_configuration:
        call.configured.add(row.name)
    for variable, text in decision.environment.items():
        set_variable(variable, str(text))
    call.kept.update(decision.kept)
    return decision.arguments


def _give(call: OldCall, row: Keyword, name: str, value: Any) -> None:
    present = call.arguments.get(name, call.unknown.get(name))
    contradiction = clash(name, value, present)
    if contradiction:
        raise call.refuse(
            row, f"{call.name}({row.name}=, {name}=)", f"{row.name}= {contradiction}."
        )
    target = call.arguments if name in call.method.keywords else call.unknown
    if present is None or value is not None:
        target[name] = value


def rename_values(call: OldCall, rows: Iterable[Value]) -> None:
    """Replace values that have another name today, also in a list.

    Raises:
        LegacyError: a value has no counterpart.
    """
    for row in rows:
        if row.name in call.arguments:
            decision = decide_value(row, call.arguments[row.name])
            if decision is not None:
                call.settle(row, decision, f"{call.name}({row.name}={row.value!r})")
                call.arguments.update(decision.arguments)

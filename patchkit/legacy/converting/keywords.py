"""Bring the keywords of a call to today's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..changes import Configure, Convert, Drop, Environment, Keep, Keyword, Rename
from ..errors import LegacyError
from ..wording import shown
from .call import Call, giving_later
from .configuration import configuration_class, configure
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
        named = {row.name: None for row in rows.values() if _keeps(row, call)}
        with giving_later({configuration_class(call): named}):
            configure(call, settings)
    if keeps:
        vars(call.arguments["args"]).update(call.kept)
        call.kept.clear()


def _keeps(row: Keyword, call: Call) -> bool:
    return isinstance(row.action, Keep) and row.action.to in call.kept


def _has_target(call: Call, row: Keyword) -> bool:
    """Tell whether the installed release has what a keyword is called elsewhere."""
    if not isinstance(row.action, Rename):
        return True
    return row.action.to in call.method.keywords or call.method.takes_any


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
    action, old = row.action, f"{call.name}({row.name}=)"
    with_value = f"{call.name}({row.name}={value!r})"
    if isinstance(action, Rename):
        call.fix(row, old, f"write {action.to}=")
        return {action.to: value}
    if isinstance(action, Configure):
        changed = _fields(call, action, value)
        written = f"write {configuration_class(call).__name__}({action.to}=…)"
        call.fix(row, old, written if changed else "leave it out")
        settings.update(changed)
        call.configured.add(row.name)
        return {}
    if isinstance(action, Convert):
        changed = action.convert(value, call)
        written = ", ".join(f"{new}={shown(new_value)}" for new, new_value in changed.items())
        call.fix(row, with_value, f"write {written}" if written else "leave it out")
        return changed
    if isinstance(action, Environment):
        if value is None:
            call.fix(row, old, "leave it out")
        else:
            call.fix(row, old, f'write os.environ["{action.variable}"] = {str(value)!r}')
            put(action.variable, str(value))
        return {}
    if isinstance(action, Drop):
        if action.unless is not None and action.unless(value):
            raise call.refuse(row, with_value, action.instead)
        call.fix(row, old, f"leave it out: {action.because}")
        return {}
    if isinstance(action, Keep):
        call.fix(row, with_value, action.advice)
        call.kept[action.to] = value
        return {}
    raise call.refuse(row, with_value, action.instead)


def _fields(call: Call, action: Configure, value: Any) -> Mapping[str, Any]:
    """Return the fields of the configuration for a keyword of a trainer."""
    if action.convert is not None:
        return action.convert(value, call)
    return {} if value is None else {action.to: value}


def _give(call: Call, row: Keyword, name: str, value: Any) -> None:
    given = call.arguments.get(name, call.unknown.get(name))
    if given is not None and given is not value:
        raise LegacyError(
            f"{call.place()}: {call.name} got {row.name}= and {name}=, which mean the same; "
            f"keep {name}="
        )
    target = call.arguments if name in call.method.keywords else call.unknown
    target[name] = value

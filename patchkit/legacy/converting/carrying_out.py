"""Carry out a call that may have old spellings; imported with the first of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ..call_sites import catches
from ..uses import calling_frame
from ..versions.due import Due, MethodRows
from .call import OldCall, Surroundings
from .configuration import give_call_an_own_configuration
from .defaults import complete
from .keywords import rename_values, translate
from .order import positional_to_keyword
from .redeclared import Fields, convert_redeclared_fields

if TYPE_CHECKING:
    from typing import Protocol

    from ..guarding.changed import ChangedAttributes
    from ..guarding.guard import GuardedMethod
    from ..uses import Journal
    from ..versions.written_for import WrittenFor

    class Wanted(Protocol):
        """What the user wants of the layer."""

        written_for: WrittenFor | None

        @property
        def due(self) -> Due: ...


def carry_out(
    method: GuardedMethod,
    instance: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    rows: MethodRows,
    own: Fields | None,
    wanted: Wanted,
    changed: ChangedAttributes,
    journal: Journal,
) -> Any:
    """Call a method with what the old spellings mean today, and the old behaviour in force.

    Args:
        method: what a script calls.
        instance: the object that it is called on.
        args: the positional arguments.
        kwargs: the keyword arguments.
        rows: the rows for the method.
        own: the fields that a script declares again, if a row is about one of them.
        wanted: which rows are due, and what the script was written for.
        changed: remembers attributes that an adjustment sets in classes.
        journal: where uses are noted.
    """
    call = OldCall(method, instance, args, kwargs, journal, wanted.written_for)
    if not method.takes_any and not call.unknown.keys().isdisjoint(rows.keywords) and _is_probe():
        return call.carry_out()
    call = positional_to_keyword(call, args, kwargs, rows.orders)
    if own is not None:
        convert_redeclared_fields(call, rows, own)
    translate(call, rows.keywords)
    rename_values(call, rows.values)
    if rows.adjusted:
        surroundings = Surroundings(wanted.due, changed, journal)
        for row in rows.adjusted:
            row.adjust(call, row, surroundings)
    give_call_an_own_configuration(call)
    proceed: Callable[[], Any] = call.carry_out
    for behaviour in rows.behaviours:
        proceed = partial(behaviour.around, call, behaviour, proceed)
    if rows.defaults:
        proceed = partial(complete, call, rows.defaults.values(), proceed)
    return proceed()


def _is_probe() -> bool:
    """Tell whether the call stands in a `try … except TypeError` that has an answer."""
    frame = calling_frame()
    return frame is not None and catches(frame, TypeError)

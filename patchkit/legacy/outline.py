"""What guards must know of the rows that are due: names.

A guard asks of each call whether it may be an old one, and hardly any is. So most processes need no
more, and the rows are read with the first old call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

_WHOLE = "trl."
"""The library whose modules all concern the layer; others have too many."""

MayConcern = Callable[[Sequence[Any], Mapping[str, Any]], bool]
"""Takes the arguments by position and those by keyword; tells whether a call may be an old one."""
Former = tuple[bool, bool, bool]
"""Of an attribute: whether it is a property today, with another value, whether the class itself has
it, and whether it is a method that is refused."""
Watched = tuple[bool, bool, tuple[str, ...], tuple[tuple[Any, ...], ...]]
"""When a call of a method may be an old one: always, with several arguments by position, with
one of these keywords, or where one of these functions of rows says so."""


class Outline:
    """The names in the rows that are due.

    Args:
        names: as `kept.names_of` gives them.
        due: returns the rows.
    """

    def __init__(self, names: Mapping[str, Any], due: Callable[[], Any]) -> None:
        self._read = due
        self._watched: dict[str, dict[str, Watched]] = names["watched"]
        self._attributes: dict[str, dict[str, Former]] = names["attributes"]
        self._assigned: dict[str, tuple[str, ...]] = names["assigned"]
        self.packages: frozenset[str] = frozenset(names["packages"])
        self.within: dict[str, tuple[str, ...]] = names["within"]
        self.former: frozenset[str] = frozenset(names["former"])
        self.structure: str = names["structure"]
        self._modules = frozenset(names["modules"])
        self._owners = {*self._watched, *self._attributes, *self._assigned}

    @cached_property
    def due(self) -> Any:
        """The rows: a `versions.due.Due`."""
        return self._read()

    def concerns(self, module: str) -> bool:
        """Tell whether a module may have something that a row is about."""
        return module in self._modules or module.startswith(_WHOLE)

    def has_any(self, names: Sequence[str]) -> bool:
        """Tell whether there is a row for a class, by its public names."""
        return not self._owners.isdisjoint(names)

    def among(self, modules: Iterable[str]) -> list[str]:
        """Return those of these modules that `concerns` is true of."""
        known = self._modules
        return [name for name in modules if name in known or name.startswith(_WHOLE)]

    def methods(self, names: Sequence[str]) -> dict[str, list[Watched]]:
        """Return the methods of a class with rows, and what `check_of` takes of them.

        Args:
            names: its public names and those that it derives from. The name of a package stands for
                its functions.
        """
        found: dict[str, list[Watched]] = {}
        for name in reversed(names):
            for method, watched in self._watched.get(name, {}).items():
                found.setdefault(method, []).append(watched)
        return found

    def attributes(self, names: Sequence[str]) -> dict[str, Former]:
        """Return the attributes that a class, and no other before it, answers for."""
        if names[0] not in self._attributes:
            return {}
        found: dict[str, Former] = {}
        for name in reversed(names):
            found.update(self._attributes.get(name, {}))
        return found

    def assigned(self, name: str) -> tuple[str, ...]:
        """Return the attributes of a class that scripts set."""
        return self._assigned.get(name, ())


def check_of(watched: Iterable[Watched]) -> MayConcern:
    """Return the check whether a call may have an old spelling; quick, since every call asks."""
    any_call, ordered, keywords, conditions = zip(*watched, strict=True)
    if any(any_call):
        return lambda args, kwargs: True
    old = frozenset().union(*keywords)
    longest = 1 if any(ordered) else sys.maxsize
    chosen = [condition for each in conditions for condition in each]

    def is_unlike_today(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        return not old.isdisjoint(kwargs) or len(args) > longest

    def may_concern(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        if is_unlike_today(args, kwargs):
            return True
        from .rows.tables import Named

        return any(Named(*condition)(args, kwargs) for condition in chosen)

    return may_concern if chosen else is_unlike_today


def public_names(cls: type) -> list[str]:
    """Return the names that the table has for a class and those that it derives from."""
    return [
        f"{ancestor.__module__.partition('.')[0]}.{ancestor.__name__}" for ancestor in cls.__mro__
    ]

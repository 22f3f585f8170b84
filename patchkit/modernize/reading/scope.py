"""Names of a script, and what they may stand for where they are used."""

from __future__ import annotations

from collections.abc import Iterable

from .values import Constant, Dictionary, Library, Made, Values

_MOST = 8
"""So many meanings of a name are followed."""


class Scope:
    """The names of a module or function, with what they may stand for."""

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self.names: dict[str, Values] = {}
        self.returned: Values = ()

    def find(self, name: str) -> Values | None:
        """Return what a name may stand for; None if nothing gives it a meaning."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    def after(self, *branches: dict[str, Values]) -> None:
        """Go on after one of several branches, whichever it was."""
        names: dict[str, Values] = {}
        for branch in branches:
            for name, values in branch.items():
                names[name] = merged(names.get(name, ()), values)
        self.names = names


def merged(first: Values, second: Iterable[object]) -> Values:
    """Return all meanings, each once."""
    known = {_identity(value): value for value in first}
    for value in second:
        known.setdefault(_identity(value), value)
    return tuple(known.values())[:_MOST]


def _identity(value: object) -> object:
    if isinstance(value, Library):
        return value.name
    if isinstance(value, Made):
        return value.kind, id(value.call.node) if value.call else 0, id(value.own)
    if isinstance(value, Dictionary | Constant):
        return id(value.node)
    return id(value)

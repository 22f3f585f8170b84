"""What the names and expressions of a script may stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .script import OwnClass, ScriptCall

_MOST = 8
"""So many meanings of a name are followed."""


@dataclass(frozen=True)
class Library:
    """A module, class or function of a library, by its name with dots."""

    name: str


@dataclass(frozen=True, eq=False)
class Made:
    """An object.

    Args:
        class_name: its class, with dots.
        call: the call that made it; None if it came in another way.
        own: the script's own class, if it is of one.
    """

    class_name: str
    call: ScriptCall | None = None
    own: OwnClass | None = None


@dataclass(frozen=True, eq=False)
class MadeMethod:
    """A method of an object."""

    instance: Made
    name: str


@dataclass(frozen=True, eq=False)
class Several:
    """A list or tuple, with what each element may be."""

    elements: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, eq=False)
class Dictionary:
    """A dictionary that the script writes down, and whether it is changed afterwards."""

    node: ast.Dict | ast.Call


@dataclass(frozen=True, eq=False)
class Constant:
    """A literal.

    Args:
        surely: whether it is the value, and not only a default.
    """

    node: ast.expr
    surely: bool = True

    @property
    def is_none(self) -> bool:
        return isinstance(self.node, ast.Constant) and self.node.value is None


@dataclass(frozen=True, eq=False)
class Loaded:
    """What the script reads from a file of settings, or a part of it."""

    file: str
    content: Any


@dataclass(frozen=True, eq=False)
class Own:
    """A function or class of the script's own.

    Args:
        is_method: whether it gets the object before what it is called with.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    cls: OwnClass | None = None
    is_method: bool = False


Values = tuple[Any, ...]
"""What an expression may be; empty if nothing is known."""


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


def flat(values: Values) -> Iterator[object]:
    """Yield what an expression may stand for, and what is in its lists."""
    for value in values:
        if isinstance(value, Several):
            for element in value.elements:
                yield from flat(element)
        else:
            yield value


def _identity(value: object) -> object:
    if isinstance(value, Library):
        return value.name
    if isinstance(value, Made):
        return value.class_name, id(value.call.node) if value.call else 0, id(value.own)
    if isinstance(value, Dictionary | Constant):
        return id(value.node)
    return id(value)

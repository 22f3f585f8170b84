"""Whose a class is: a library's, or a script's own."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FunctionType

from ...libraries import with_role

_LIBRARIES = frozenset({"builtins", "patchkit", *with_role("classes")})


def belongs_to_a_library(kind: type) -> bool:
    """Tell whether a library defines a class."""
    return kind.__module__.partition(".")[0] in _LIBRARIES


def own_classes(kind: type) -> Iterator[type]:
    """Yield the classes of a script's that a class derives from, itself among them."""
    return (known for known in kind.__mro__ if not belongs_to_a_library(known))


def own_methods(kind: type, name: str) -> Iterator[tuple[type, FunctionType]]:
    """Yield the methods of a name that a script's classes define, each with its class."""
    for owner in own_classes(kind):
        method = vars(owner).get(name)
        if inspect.isfunction(method):
            yield owner, method


def library_class(kind: type) -> type | None:
    """Return the nearest class of a library's that a class derives from."""
    return next((known for known in kind.__mro__ if belongs_to_a_library(known)), None)

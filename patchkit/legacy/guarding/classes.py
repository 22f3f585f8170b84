"""Whose a class is, a library's or a script's own, and which classes derive from it.

`dataclasses` generates a constructor for each dataclass that a script derives from a library's
configuration, after the class was made. So a guard of the library's constructor does not see calls
of that one.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from ...libraries import with_role
from .changed import ChangedAttributes

_LIBRARIES = frozenset({"builtins", "patchkit", *with_role("classes")})
_MAKER = "_process_class"
"""The function of `dataclasses` that turns a class into a dataclass."""
_GENERATED = "<string>"
"""The file that generated constructors are said to be in."""


def belongs_to_a_library(cls: type) -> bool:
    """Tell whether a library defines a class."""
    return cls.__module__.partition(".")[0] in _LIBRARIES


def own_classes(cls: type) -> Iterator[type]:
    """Yield a class and those that it derives from, as far as they are a script's."""
    return (base for base in cls.__mro__ if not belongs_to_a_library(base))


def own_methods(cls: type, name: str) -> Iterator[tuple[type, FunctionType]]:
    """Yield the methods of a name that a script's classes define, each with its class."""
    for owner in own_classes(cls):
        method = vars(owner).get(name)
        if inspect.isfunction(method):
            yield owner, method


def library_class(cls: type) -> type | None:
    """Return the nearest class of a library's that a class derives from."""
    return next((base for base in cls.__mro__ if belongs_to_a_library(base)), None)


def watch(guard: Callable[[type], None], changed: ChangedAttributes) -> None:
    """Call `guard` with each dataclass that is made from now on."""
    process = getattr(dataclasses, _MAKER, None)
    if process is None:
        return

    @functools.wraps(process)
    def process_class(*args: Any, **kwargs: Any) -> Any:
        cls = process(*args, **kwargs)
        guard(cls)
        return cls

    changed.change(dataclasses, _MAKER, process_class)


def derived_from(cls: type) -> Iterator[type]:
    """Yield all classes that derive from a dataclass; none for other classes."""
    if dataclasses.is_dataclass(cls):
        for derived in cls.__subclasses__():
            yield derived
            yield from derived_from(derived)


def has_generated_constructor(cls: type) -> bool:
    """Tell whether a class is a script's own, and `dataclasses` made its constructor."""
    constructor = vars(cls).get("__init__")
    return (
        not belongs_to_a_library(cls)
        and isinstance(constructor, FunctionType)
        and constructor.__code__.co_filename == _GENERATED
    )

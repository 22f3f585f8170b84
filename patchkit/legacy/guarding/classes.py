"""Whose a class is, and which classes derive from it.

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

from ...libraries import LIBRARIES
from ...whose import Whose, owner_of_class, owner_of_function
from .changed import ChangedAttributes

_MAKER = "_process_class"
"""The function of `dataclasses` that turns a class into a dataclass."""
_GENERATED = "<string>"
"""The file that generated constructors are said to be in."""


def belongs_to_a_library(cls: type) -> bool:
    """Tell whether a class is neither the user's nor a framework's."""
    return owner_of_class(cls).whose not in (Whose.USER, Whose.FRAMEWORK)


def own_classes(cls: type, *, of_frameworks: bool = False) -> Iterator[type]:
    """Yield a class and those that it derives from, as far as they are the user's.

    Args:
        cls: a class.
        of_frameworks: whether those of frameworks count as well.
    """
    for base in cls.__mro__:
        owner = owner_of_class(base).whose
        if owner is Whose.USER or (of_frameworks and owner is Whose.FRAMEWORK):
            yield base


def own_methods(
    cls: type, name: str, *, of_frameworks: bool = False
) -> Iterator[tuple[type, FunctionType]]:
    """Yield the methods of a name that are the user's, each with its class.

    That is one of a library if the script has put the method there.
    """
    own = set(own_classes(cls, of_frameworks=of_frameworks))
    for base in cls.__mro__:
        method = vars(base).get(name)
        if inspect.isfunction(method) and (base in own or _is_own(method)):
            yield base, method


def library_method(cls: type, name: str) -> Any:
    """Return the method of a name that a class has of a library; None if there is none."""
    for base in cls.__mro__:
        method = vars(base).get(name)
        if method is not None and belongs_to_a_library(base) and not _is_own(method):
            return getattr(base, name, None)  # None for an attribute that the layer answers for
    return None


def _is_own(method: Any) -> bool:
    function = inspect.unwrap(getattr(method, "__func__", method))
    return isinstance(function, FunctionType) and owner_of_function(function).whose is Whose.USER


def library_class(cls: type) -> type | None:
    """Return the nearest class of the libraries' that a class derives from."""
    return next((base for base in cls.__mro__ if owner_of_class(base).name in LIBRARIES), None)


def functions_of(cls: type) -> Iterator[FunctionType]:
    """Yield the functions that a class defines, also in properties, but for generated ones."""
    for value in vars(cls).values():
        parts: tuple[Any, ...] = (value,)
        if isinstance(value, (classmethod, staticmethod)):
            parts = (value.__func__,)
        elif isinstance(value, property):
            parts = (value.fget, value.fset)
        elif isinstance(value, functools.cached_property):
            parts = (value.func,)
        for part in parts:
            function = inspect.unwrap(part) if isinstance(part, FunctionType) else None
            if isinstance(function, FunctionType) and function.__code__.co_filename != _GENERATED:
                yield function


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

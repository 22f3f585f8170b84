"""A method or function of a library, as its calls need it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any

from .guard import Guarded

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_KEYWORD = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Method:
    """A method that a class defines, or a function that a module does.

    Args:
        owner: the class, or the module.
        name: the name of the method.

    Attributes:
        function: what is behind it.
        is_bound: whether it is called on an object or a class.
        call: calls it with that object or class before the arguments, or None.
    """

    def __init__(self, owner: type | ModuleType, name: str) -> None:
        self.owner = owner
        self.name = name
        method = vars(owner)[name]
        if isinstance(method, Guarded):
            method = method.__wrapped__
        self.function: Callable[..., Any] = getattr(method, "__func__", method)
        self.is_bound = isinstance(owner, type)
        self.call = self.function if self.is_bound else _without_instance(self.function)

    @cached_property
    def _parameters(self) -> tuple[inspect.Parameter, ...]:
        """The parameters, but for the one that takes the object or class."""
        parameters = tuple(inspect.signature(self.function).parameters.values())
        return parameters[1:] if self.is_bound else parameters

    @cached_property
    def positional(self) -> tuple[str, ...]:
        """The names of the parameters that can be given by position."""
        return tuple(known.name for known in self._parameters if known.kind in _POSITIONAL)

    @cached_property
    def keywords(self) -> frozenset[str]:
        """The names of the parameters that can be given by keyword."""
        return frozenset(known.name for known in self._parameters if known.kind in _BY_KEYWORD)

    @cached_property
    def takes_any(self) -> bool:
        """Whether it takes keywords that it has no parameter for."""
        return any(known.kind is inspect.Parameter.VAR_KEYWORD for known in self._parameters)


def _without_instance(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(instance: None, /, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call

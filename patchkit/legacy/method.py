"""A method of a library, as its calls need it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any

from .guard import Guarded

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_KEYWORD = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Method:
    """A method that a class defines.

    Args:
        owner: the class.
        name: the name of the method.
    """

    def __init__(self, owner: type, name: str) -> None:
        self.owner = owner
        self.name = name
        method = vars(owner)[name]
        if isinstance(method, Guarded):
            method = method.__wrapped__
        self.function: Callable[..., Any] = getattr(method, "__func__", method)

    @cached_property
    def _parameters(self) -> tuple[inspect.Parameter, ...]:
        """The parameters, but for the one that takes the object or class."""
        return tuple(inspect.signature(self.function).parameters.values())[1:]

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


class Function(Method):
    """A function of a module, called as a method of itself.

    Args:
        function: the function.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = function.__name__
        self.function = self._call
        self._plain = function

    def _call(self, _: Any, *args: Any, **kwargs: Any) -> Any:
        return self._plain(*args, **kwargs)

    @cached_property
    def _parameters(self) -> tuple[inspect.Parameter, ...]:
        return tuple(inspect.signature(self._plain).parameters.values())

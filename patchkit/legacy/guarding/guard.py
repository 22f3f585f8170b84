"""Methods and functions of a library: see their calls, and leave them as they are."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from functools import cached_property
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from ...whose import Whose, owner_of_frame
from .proxies import BoundProxy

Checked = Callable[..., Any]
"""Called as `checked(instance, *args, **kwargs)` in place of the method.

The instance of a function is None.
"""
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_KEYWORD = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Guarded:
    """Stand for a method in the namespace of a class.

    Read through the class, a plain method is the function itself, with its own code and signature.
    Read through an object, and for a class method or a static one, it is a proxy of the bound
    method, whose calls go through `checked`. For methods that Python itself calls, such as
    `__init__`, no proxy is made: that would take longer than all else. A constructor that calls
    one through the class gets `checked` as well.
    """

    def __init__(self, method: Any, checked: Checked) -> None:
        self.__wrapped__ = method
        self.__doc__ = method.__doc__
        self._checked = checked
        self._is_special = isinstance(method, FunctionType) and method.__name__.endswith("__")
        if self._is_special:
            functools.update_wrapper(checked, method)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is not None and self._is_special:
            return MethodType(self._checked, instance)
        if instance is None and self._is_special and _is_called_by_own(sys._getframe(1)):
            return self._checked
        bound = self.__wrapped__.__get__(instance, owner)
        called_on = getattr(bound, "__self__", None)
        if isinstance(self.__wrapped__, staticmethod):
            return BoundProxy(bound, self._checked, None)
        return bound if called_on is None else BoundProxy(bound, self._checked, called_on)

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[Any]]:
        # A script's own class may be pickled by value; elsewhere nothing is guarded.
        return _itself, (self.__wrapped__,)


def _is_called_by_own(frame: FrameType) -> bool:
    """Tell whether a constructor of the user's or a framework's calls `Trainer.__init__(self)`."""
    is_constructor = frame.f_code.co_name == "__init__"
    return is_constructor and owner_of_frame(frame).whose in (Whose.USER, Whose.FRAMEWORK)


def _itself(method: Any) -> Any:
    return method


class GuardedMethod:
    """A method that a class defines, or a function that a module does.

    Args:
        owner: the class, or the module.
        name: the name of the method.

    Attributes:
        function: the function that the method was made of.
        is_bound: whether it is called on an object or a class.
        call: calls it with that object or class before the arguments, or None.
    """

    def __init__(self, owner: type | ModuleType, name: str) -> None:
        self.owner = owner
        self.name = name
        method = vars(owner)[name]
        if isinstance(method, Guarded):
            method = method.__wrapped__
        self.is_bound = isinstance(owner, type) and not isinstance(method, staticmethod)
        # Some functions of a module are methods of an object that it holds.
        self.function: Callable[..., Any]
        self.function = getattr(method, "__func__", method) if isinstance(owner, type) else method
        self.call = self.function if self.is_bound else self._without_instance

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

    def _without_instance(self, instance: None, /, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

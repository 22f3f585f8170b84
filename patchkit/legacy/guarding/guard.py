"""See the calls of a method or function, and leave it as it is."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from wrapt import ObjectProxy

if TYPE_CHECKING:
    _Proxy = ObjectProxy[Any]
else:
    _Proxy = ObjectProxy  # older releases take no type

Checked = Callable[..., Any]
"""Called as `checked(instance, *args, **kwargs)` in place of the method.

The instance of a function is None.
"""


class Guarded:
    """Stand for a method in the namespace of a class.

    Looked at through the class, a plain method is the function itself, with its own code and
    signature. Called through an object it goes through `checked` first. What is looked at through
    an object, and a class method, is a proxy of the bound method. What Python calls by itself, as
    `__init__`, is none: to make one would take longer than all else.

    Args:
        method: what the namespace of the class had.
        checked: called in its place.
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
        bound = self.__wrapped__.__get__(instance, owner)
        called_on = getattr(bound, "__self__", None)
        return bound if called_on is None else _Bound(bound, self._checked, called_on)

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[Any]]:
        # A script's own class may be pickled by value; elsewhere nothing is guarded.
        return _itself, (self.__wrapped__,)


def _itself(method: Any) -> Any:
    return method


class _Bound(_Proxy):
    """A bound method, seen from outside, that goes through `checked`."""

    def __init__(self, bound: Any, checked: Checked, called_on: Any) -> None:
        super().__init__(bound)
        self._self_checked = checked
        self._self_called_on = called_on

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._self_checked(self._self_called_on, *args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__wrapped__.__reduce_ex__(protocol)


class GuardedFunction(_Proxy):
    """Stand for a function in the namespace of its module.

    Who took it from there keeps it, so that it asks each time whether it is still meant.

    Args:
        function: what the module had.
        checked: called in its place.
        is_in_force: tells whether it is.
    """

    def __init__(
        self, function: Callable[..., Any], checked: Checked, is_in_force: Callable[[], bool]
    ) -> None:
        super().__init__(function)
        self._self_checked = checked
        self._self_is_in_force = is_in_force

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._self_is_in_force():
            return self._self_checked(None, *args, **kwargs)
        return self.__wrapped__(*args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _function, (self.__module__, self.__name__)


def _function(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)

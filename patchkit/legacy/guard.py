"""See the calls of a method, and leave the method as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wrapt import ObjectProxy

if TYPE_CHECKING:
    _Proxy = ObjectProxy[Any]
else:
    _Proxy = ObjectProxy  # older releases take no type

Checked = Callable[..., Any]
"""Called as `checked(instance, *args, **kwargs)` in place of the method."""


class Guarded:
    """Stand for a method in the namespace of a class.

    Looked at through the class, a plain method is the function itself, with its own code and
    signature. Called through an object it goes through `checked` first. A class method has to be
    told from a look at it by its call, so that one is a proxy of the bound method.

    Args:
        method: what the namespace of the class had.
        checked: called in its place.
    """

    def __init__(self, method: Any, checked: Checked) -> None:
        self.__wrapped__ = method
        self.__doc__ = method.__doc__
        self._checked = checked

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        bound = self.__wrapped__.__get__(instance, owner)
        called_on = getattr(bound, "__self__", None)
        return bound if called_on is None else _Bound(bound, self._checked, called_on)


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
    """Stand for a function in the namespace of its module, and go through `checked`."""

    def __init__(self, function: Any, checked: Checked) -> None:
        super().__init__(function)
        self._self_checked = checked

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._self_checked(self.__wrapped__, *args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__wrapped__.__qualname__  # its name, which pickle looks up in the module

"""Stand-ins for functions and bound methods: to all who look at them, what they stand for.

They do what `wrapt.ObjectProxy` does for functions. To import that takes longer than all guards.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

_get, _put = object.__getattribute__, object.__setattr__


class _Proxy:
    """Show the attributes of what is wrapped, its class among them."""

    def __init__(self, wrapped: Any) -> None:
        _put(self, "__wrapped__", wrapped)

    def __getattribute__(self, name: str) -> Any:
        if name in _OWN:
            return _get(self, name)
        return getattr(_get(self, "__wrapped__"), name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__wrapped__, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__wrapped__, name)

    def __dir__(self) -> list[str]:
        return dir(self.__wrapped__)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.__wrapped__!r}>"

    def __str__(self) -> str:
        return str(self.__wrapped__)

    def __eq__(self, other: object) -> bool:
        return bool(self.__wrapped__ == other)

    def __hash__(self) -> int:
        return hash(self.__wrapped__)


class BoundProxy(_Proxy):
    """A bound method whose calls go through `checked`."""

    def __init__(self, bound: Any, checked: Callable[..., Any], called_on: Any) -> None:
        super().__init__(bound)
        _put(self, "_checked", checked)
        _put(self, "_called_on", called_on)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _get(self, "_checked")(_get(self, "_called_on"), *args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__wrapped__.__reduce_ex__(protocol)


class GuardedFunction(_Proxy):
    """Stand for a function in the namespace of its module.

    Scripts may keep a reference to it, so each call checks whether the layer is still on.

    Args:
        function: what the module had.
        checked: called in its place.
        is_in_force: tells whether the layer is still on.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        checked: Callable[..., Any],
        is_in_force: Callable[[], bool],
    ) -> None:
        super().__init__(function)
        _put(self, "_checked", checked)
        _put(self, "_is_in_force", is_in_force)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _get(self, "_is_in_force")():
            return _get(self, "_checked")(None, *args, **kwargs)
        return _get(self, "__wrapped__")(*args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _function, (self.__module__, self.__name__)


def _function(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


_OWN = frozenset({"__wrapped__", "__reduce_ex__"})

"""wrapt's proxy of a callable, with what it lacks to be pickled and copied as the callable is."""

from __future__ import annotations

import importlib
from functools import reduce
from typing import Any

import wrapt

_Bound: Any = wrapt.BoundFunctionWrapper
_Function: Any = wrapt.FunctionWrapper


class _BoundProxy(_Bound):  # type: ignore[misc]
    """The proxy as attribute access on a class or an instance gives it."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self._self_instance is None:
            return self._self_parent.__reduce_ex__(protocol)
        return getattr, (self._self_instance, self.__wrapped__.__name__)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self


class CallableProxy(_Function):  # type: ignore[misc]
    """A proxy that is pickled by its name, and is its own copy, as functions are."""

    __bound_function_wrapper__ = _BoundProxy

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _fetch, self._self_place

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self


def _fetch(module: str, qualname: str) -> Any:
    return reduce(getattr, qualname.split("."), importlib.import_module(module))

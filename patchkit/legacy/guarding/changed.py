"""Attributes and environment variables that the layer has set, and their values before."""

from __future__ import annotations

import os
import sys
import weakref
from types import FunctionType, MethodType, ModuleType
from typing import Any

_ABSENT = object()
_CLASS = "__class__"
_variables: dict[str, str | None] = {}
"""The environment variables that the layer has set, and their values before."""


class ChangedAttributes:
    """Attributes of classes and modules that `restore` gives back.

    Each is remembered before it is changed, so that an interruption leaves nothing behind. An
    attribute that somebody else has set since stays as it is.
    """

    def __init__(self) -> None:
        self._changes: list[tuple[weakref.ref[Any], str, object, object]] = []
        self._functions: list[tuple[FunctionType | MethodType, object]] = []

    def change(self, owner: Any, name: str, value: object) -> None:
        """Set an attribute in the namespace of a class or module."""
        before = vars(owner).get(name, _ABSENT)
        self._changes.append((weakref.ref(owner), name, value, before))
        setattr(owner, name, value)

    def change_class(self, module: ModuleType, cls: type[ModuleType]) -> None:
        """Make a module one of another class."""
        self._changes.append((weakref.ref(module), _CLASS, cls, type(module)))
        module.__class__ = cls

    def replace(self, function: FunctionType | MethodType, stand_in: object) -> None:
        """Replace a function in all modules of its package that have it."""
        self._functions.append((function, stand_in))
        _put(function, stand_in, function)

    def restore(self) -> None:
        """Give back all attributes, the last first."""
        while self._functions:
            function, stand_in = self._functions[-1]
            _put(stand_in, function, function)
            self._functions.pop()
        while self._changes:
            reference, name, value, before = self._changes[-1]
            owner = reference()
            if name == _CLASS:
                if type(owner) is value:
                    owner.__class__ = before
            elif owner is not None and vars(owner).get(name) is value:
                if before is _ABSENT:
                    delattr(owner, name)
                else:
                    setattr(owner, name, before)
            self._changes.pop()


def _put(old: object, new: object, function: FunctionType | MethodType) -> None:
    """Replace `old` in the modules of a function's package that have it by now."""
    package, name = function.__module__.partition(".")[0], function.__name__
    for place in _loaded(package):
        module = sys.modules.get(place)
        if isinstance(module, ModuleType) and vars(module).get(name) is old:
            setattr(module, name, new)


_by_package: dict[str, tuple[int, str, list[str]]] = {}


def _loaded(package: str) -> list[str]:
    """Return the modules of a package in `sys.modules`, which has thousands of others."""
    loaded = list(sys.modules)
    known = _by_package.get(package)
    if known is None or known[:2] != (len(loaded), loaded[-1]):
        inside = f"{package}."
        names = [name for name in loaded if name.startswith(inside) or name == package]
        known = _by_package[package] = len(loaded), loaded[-1], names
    return known[2]


def set_variable(name: str, value: str) -> None:
    """Set a variable until `restore_variables`."""
    _variables.setdefault(name, os.environ.get(name))
    os.environ[name] = value


def restore_variables() -> None:
    """Give all variables back that were set."""
    while _variables:
        name, value = next(iter(_variables.items()))
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
        del _variables[name]

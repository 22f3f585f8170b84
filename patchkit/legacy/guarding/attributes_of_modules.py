"""Answer for names that a module does not have."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum
from opcode import opname
from types import ModuleType
from typing import Any

from .changed import ChangedAttributes


class NameLookup(Enum):
    """How a name is asked for."""

    IMPORT = "import"
    """By `from … import …`, which makes an ImportError of an AttributeError, without its text."""
    READ = "read"
    """By `module.name`."""
    PROBE = "probe"
    """By a function such as `hasattr`."""
    AHEAD = "ahead"
    """By the import system, which asks a second time if the name is there."""


_BY_OPERATION = {
    "IMPORT_FROM": NameLookup.IMPORT,
    "LOAD_ATTR": NameLookup.READ,
    "LOAD_METHOD": NameLookup.READ,
}


def lookup_of(depth: int) -> NameLookup:
    """Tell how a frame asks for a name at this moment.

    Args:
        depth: how far the frame is above the caller's.
    """
    frame = sys._getframe(depth + 1)
    if frame.f_globals.get("__name__") == "importlib._bootstrap":
        return NameLookup.AHEAD
    operation = opname[frame.f_code.co_code[frame.f_lasti]]
    return _BY_OPERATION.get(operation, NameLookup.PROBE)


Find = Callable[[str, NameLookup], Any]
"""Takes the dotted name, and how it is asked for."""


def answer(
    module: ModuleType, names: frozenset[str], find: Find, changed: ChangedAttributes
) -> None:
    """Ask `find` for names that a module does not have.

    Args:
        module: a module.
        names: those names.
        find: returns what they stand for, or raises AttributeError or ImportError.
        changed: remembers the attribute or class that is set for that.
    """
    if hasattr(type(module), "__getattr__"):
        # A class's own __getattr__ has the last word, and its error would hide ours.
        changed.change_class(module, _answering(type(module), names, find))
    else:
        changed.change(module, "__getattr__", _Attributes(module, names, find))


class _Attributes:
    """The `__getattr__` of a module."""

    def __init__(self, module: ModuleType, names: frozenset[str], find: Find) -> None:
        self.before: Any = vars(module).get("__getattr__")
        self._module = module.__name__
        self._names = names
        self._find = find

    def __call__(self, name: str) -> Any:
        if self.before is not None:
            try:
                return self.before(name)
            except AttributeError:
                if name not in self._names:
                    raise
        if name in self._names:
            return self._find(f"{self._module}.{name}", lookup_of(1))
        raise AttributeError(f"module {self._module!r} has no attribute {name!r}")


def _answering(cls: type[ModuleType], names: frozenset[str], find: Find) -> type[ModuleType]:
    """Return a class of modules that asks `find` for names that `cls` has none for."""

    def get_attribute(self: ModuleType, name: str) -> Any:
        try:
            return cls.__getattr__(self, name)
        except AttributeError:
            if name not in names:
                raise
        return find(f"{self.__name__}.{name}", lookup_of(1))

    return type(
        cls.__name__,
        (cls,),
        {
            "__getattr__": get_attribute,
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "__doc__": cls.__doc__,
        },
    )

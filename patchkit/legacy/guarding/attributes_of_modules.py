"""Answer for names that a module does not have."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from .changed import ChangedAttributes
from .lookups import Lookup, lookup_of

Find = Callable[[str, Lookup], Any]
"""Takes the dotted name, and how it is asked for."""


def answer(
    module: ModuleType, names: frozenset[str], find: Find, changed: ChangedAttributes
) -> None:
    """Ask `find` for names that a module does not have.

    Args:
        module: a module.
        names: those names.
        find: returns what they stand for, or raises AttributeError or ImportError.
        changed: what is changed for that.
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

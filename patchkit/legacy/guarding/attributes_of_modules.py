"""Answer for names that a module does not have."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .changed import ChangedAttributes
from .lookups import NameLookup, lookup_of

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
        module = self._module
        upstream = AttributeError(
            f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules.get(module)
        )
        if self.before is not None:
            try:
                return self.before(name)
            except AttributeError as error:
                upstream = error
        lookup = lookup_of(sys._getframe(1)) if name in self._names else NameLookup.PROBE
        if lookup is NameLookup.PROBE:
            raise upstream
        return self._find(f"{module}.{name}", lookup)


def _answering(cls: type[ModuleType], names: frozenset[str], find: Find) -> type[ModuleType]:
    """Return a class of modules that asks `find` for names that `cls` has none for."""

    def get_attribute(self: ModuleType, name: str) -> Any:
        try:
            return cls.__getattr__(self, name)
        except AttributeError:
            lookup = lookup_of(sys._getframe(1)) if name in names else NameLookup.PROBE
            if lookup is NameLookup.PROBE:
                raise
        return find(f"{self.__name__}.{name}", lookup)

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

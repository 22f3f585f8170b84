"""The layer in this process: on or off, and what is in force."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import table
from .call import Call
from .changes import Gone, Keyword, Moved
from .due import Due
from .guard import Guarded, guard, unguard
from .keywords import translate
from .method import Method
from .names import Names
from .uses import Journal, Use


class Layer:
    """A listener of imports that guards what a library has, once it is there."""

    def __init__(self) -> None:
        self._journal = Journal()
        self._due: Due | None = None
        self._names: Names | None = None
        self._guards: list[tuple[type, str, Guarded]] = []
        self._seen: set[int] = set()

    @property
    def is_on(self) -> bool:
        return self._due is not None

    def switch_on(self) -> None:
        """Let old spellings work from now on; do nothing if they do."""
        if self._due is not None:
            return
        due = Due(table.rows())
        names = Names(due.of(Moved, Gone), self._journal)
        names.begin()
        self._due, self._names = due, names
        for name, module in list(sys.modules.items()):
            if self.wants(name) and isinstance(module, ModuleType) and not _is_loading(module):
                self.after_import(name, module)

    def switch_off(self) -> None:
        """Leave everything as it was before `switch_on`."""
        if self._names is not None:
            self._names.end()
        for owner, name, guarded in reversed(self._guards):
            unguard(owner, name, guarded)
        self._guards.clear()
        self._seen.clear()
        self._due = self._names = None
        self._journal.clear()

    def uses(self) -> tuple[Use, ...]:
        """Return what the script used of the table."""
        return self._journal.uses()

    def packages(self) -> frozenset[str]:
        return self._due.packages if self._due is not None else frozenset()

    def wants(self, name: str) -> bool:
        return self._due is not None and self._due.concerns(name)

    def before_import(self, package: str) -> None:
        """Do nothing: there is nothing to prepare."""

    def after_import(self, name: str, module: ModuleType) -> None:
        if self._due is None or self._names is None or id(module) in self._seen:
            return
        self._seen.add(id(module))
        self._names.answer_for(module)
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and kind.__module__ == name:
                self._guard(kind)

    def _guard(self, kind: type) -> None:
        assert self._due is not None
        for method, rows in self._due.methods_of(kind).items():
            if method in vars(kind):
                checked = self._checked(Method(kind, method), rows)
                self._guards.append((kind, method, guard(kind, method, checked)))

    def _checked(self, method: Method, rows: dict[str, Keyword]) -> Callable[..., Any]:
        function, journal = method.function, self._journal

        def checked(instance: Any, /, *args: Any, **kwargs: Any) -> Any:
            if rows.keys().isdisjoint(kwargs):
                return function(instance, *args, **kwargs)
            call = Call(method, instance, args, kwargs, journal)
            translate(call, rows)
            return call.carry_out()

        return checked


def _is_loading(module: ModuleType) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


LAYER = Layer()

"""All that hangs in modules, by reference, to tell later whether it is still the same."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

FUNCTION_FIELDS = (
    "__code__",
    "__defaults__",
    "__kwdefaults__",
    "__closure__",
    "__globals__",
    "__name__",
    "__qualname__",
    "__module__",
    "__doc__",
)
# Filled by whoever looks at annotations or warns, which changes nothing.
_PASSING = {"__annotations_cache__", "__warningregistry__"}
_ABSENT = object()


@dataclass
class Snapshot:
    """Objects by the path where they hung.

    Args:
        entries: path, such as `trl.trainer:SFTTrainer.train.__code__`, to the object itself.
        aliases: the paths under which one function was found, by the path it is recorded at.
    """

    entries: dict[str, Any] = field(default_factory=dict)
    aliases: dict[str, list[str]] = field(default_factory=dict)
    _functions: dict[int, str] = field(default_factory=dict)
    _classes: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, modules: Iterable[ModuleType]) -> Snapshot:
        snapshot = cls()
        for module in modules:
            snapshot._add_module(module)
        return snapshot

    def __len__(self) -> int:
        return len(self.entries)

    def differences(self, now: Snapshot) -> list[str]:
        """List the paths at which something else hangs now, or nothing, or something new."""
        changed = []
        for path, value in self.entries.items():
            present = now.entries.get(path, _ABSENT)
            if present is not value:
                changed.append(path)
        changed += [path for path in now.entries if path not in self.entries]
        return changed

    def only(self, modules: Iterable[str]) -> Snapshot:
        """Return the part of this snapshot that lies in some modules."""
        wanted = set(modules)
        entries = {
            path: value for path, value in self.entries.items() if path.partition(":")[0] in wanted
        }
        return Snapshot(entries, self.aliases)

    def _add_module(self, module: ModuleType) -> None:
        for name, value in list(vars(module).items()):
            if isinstance(name, str) and name not in _PASSING:
                self._add(f"{module.__name__}:{name}", value, module.__name__)

    def _add(self, path: str, value: Any, module: str) -> None:
        self.entries[path] = value
        if isinstance(value, type):
            if getattr(value, "__module__", None) == module and id(value) not in self._classes:
                self._classes.add(id(value))
                for name, entry in list(vars(value).items()):
                    if name not in _PASSING:
                        self._add(f"{path}.{name}", entry, module)
            return
        for label, function in _functions_in(value):
            self._add_function(f"{path}{label}", function)

    def _add_function(self, path: str, function: FunctionType) -> None:
        known = self._functions.get(id(function))
        if known is not None:
            self.aliases.setdefault(known, []).append(path)
            return
        self._functions[id(function)] = path
        self.entries[f"{path}()"] = function
        for name in FUNCTION_FIELDS:
            self.entries[f"{path}().{name}"] = getattr(function, name)
        for name, value in vars(function).items():
            self.entries[f"{path}().__dict__[{name!r}]"] = value
        wrapped = vars(function).get("__wrapped__")
        for label, inner in _functions_in(wrapped):
            self._add_function(f"{path}.__wrapped__{label}", inner)


def _functions_in(value: Any) -> list[tuple[str, FunctionType]]:
    """List the Python functions directly behind a value, each with what leads to it."""
    if type(value) is FunctionType:
        return [("", value)]
    if isinstance(value, (classmethod, staticmethod)):
        return _functions_in(value.__func__)
    if isinstance(value, property):
        parts = (("fget", value.fget), ("fset", value.fset), ("fdel", value.fdel))
        return [
            (f".{name}{label}", function)
            for name, part in parts
            for label, function in _functions_in(part)
        ]
    if isinstance(value, functools.partial):
        return [(f".func{label}", function) for label, function in _functions_in(value.func)]
    if isinstance(value, functools.cached_property):
        return [(f".func{label}", function) for label, function in _functions_in(value.func)]
    return []

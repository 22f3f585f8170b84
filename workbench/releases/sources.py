"""The modules of a release: each parsed when it is asked for."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from patchkit.matrix.scan.outline import bindings
from patchkit.rewrite.locate import FunctionNode

from .archive import Archive

Definition = ast.ClassDef | FunctionNode


@dataclass(frozen=True)
class FoundDefinition:
    """A class or function, and the module that defines it."""

    module: str
    node: Definition


class Sources:
    """The modules of one release.

    Args:
        archive: its wheel.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._parsed: dict[str, ast.Module] = {}
        self._found: dict[tuple[str, str], FoundDefinition | None] = {}
        self._bound: dict[str, dict[str, list[ast.stmt]]] = {}

    def __contains__(self, module: str) -> bool:
        return module in self._archive

    def __iter__(self) -> Iterator[str]:
        return iter(self._archive)

    @property
    def read(self) -> tuple[str, ...]:
        """The modules that were parsed so far."""
        return tuple(self._parsed)

    def text(self, module: str) -> str:
        """Return the text of a module."""
        return importlib.util.decode_source(self._archive[module])

    def parsed(self, module: str) -> ast.Module:
        """Return the syntax tree of a module; an empty one if this Python cannot parse it."""
        if module not in self._parsed:
            try:
                self._parsed[module] = ast.parse(self.text(module))
            except (SyntaxError, ValueError):
                self._parsed[module] = ast.Module(body=[], type_ignores=[])
        return self._parsed[module]

    def bound(self, module: str) -> Mapping[str, list[ast.stmt]]:
        """Return the names that a module binds, and the statements that bind them."""
        if module not in self._bound:
            names: dict[str, list[ast.stmt]] = {}
            for name, statement in bindings(self.parsed(module).body):
                names.setdefault(name, []).append(statement)
            self._bound[module] = names
        return self._bound[module]

    def find(self, module: str, name: str) -> FoundDefinition | None:
        """Return what a name in a module stands for.

        Args:
            module: the name of the module.
            name: the name in it.

        Returns:
            the last definition; None if it comes from another library, or is something else.
        """
        place = module, name
        if place not in self._found:
            self._found[place] = None  # for imports that go round in a circle
            self._found[place] = self._look_up(module, name)
        return self._found[place]

    def imported_from(self, module: str, name: str) -> str:
        """Return what a module imports under a name, with dots; empty if it does not."""
        for statement in reversed(self.bound(module).get(name, [])):
            if isinstance(statement, ast.ImportFrom):
                original = next(
                    (alias.name for alias in statement.names if alias.asname == name), name
                )
                return f"{self.origin(module, statement)}.{original}"
        return ""

    def _look_up(self, module: str, name: str) -> FoundDefinition | None:
        if module not in self._archive:
            return None
        bound = self.bound(module)
        for statement in reversed(bound.get(name, [])):
            if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                return FoundDefinition(module, statement)
        for statement in (*reversed(bound.get(name, [])), *bound.get("*", [])):
            if isinstance(statement, ast.ImportFrom):
                original = next(
                    (alias.name for alias in statement.names if alias.asname == name), name
                )
                found = self.find(self.origin(module, statement), original)
                if found is not None:
                    return found
        return None

    def origin(self, module: str, statement: ast.ImportFrom) -> str:
        """Return the module that a statement imports from."""
        if not statement.level:
            return statement.module or ""
        parts = module.split(".")
        up = statement.level - (module in self._archive.packages)
        base = ".".join(parts[: len(parts) - up])
        return f"{base}.{statement.module}" if statement.module else base

"""The modules of a release: each parsed when it is asked for."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ...rewrite.locate import FunctionNode
from ..scan.outline import bindings

Definition = ast.ClassDef | FunctionNode
_DEEPEST = 12
"""Imports that are followed from module to module."""


@dataclass(frozen=True)
class Found:
    """A class or function, and the module that defines it."""

    module: str
    node: Definition


class Sources:
    """The modules of one release.

    Args:
        tree: names of modules to the contents of their files.
        packages: names of the modules that are packages.
    """

    def __init__(self, tree: Mapping[str, bytes], packages: Collection[str]) -> None:
        self._tree = tree
        self._packages = packages
        self._parsed: dict[str, ast.Module] = {}
        self._bound: dict[str, dict[str, list[ast.stmt]]] = {}

    def __contains__(self, module: str) -> bool:
        return module in self._tree

    def __iter__(self) -> Iterator[str]:
        return iter(self._tree)

    def text(self, module: str) -> str:
        """Return the text of a module."""
        return importlib.util.decode_source(self._tree[module])

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

    def find(self, module: str, name: str, deepest: int = _DEEPEST) -> Found | None:
        """Return what a name in a module stands for.

        Args:
            module: the name of the module.
            name: the name in it.
            deepest: how many imports are followed.

        Returns:
            the last definition; None if it comes from another library, or is something else.
        """
        if module not in self._tree or not deepest:
            return None
        statements = self.bound(module).get(name, [])
        for statement in reversed(statements):
            if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                return Found(module, statement)
        for statement in reversed(statements):
            if isinstance(statement, ast.ImportFrom):
                original = next(
                    (it.name for it in statement.names if (it.asname or it.name) == name), name
                )
                found = self.find(self._origin(module, statement), original, deepest - 1)
                if found is not None:
                    return found
        for statement in self.bound(module).get("*", []):
            if isinstance(statement, ast.ImportFrom):
                found = self.find(self._origin(module, statement), name, deepest - 1)
                if found is not None:
                    return found
        return None

    def _origin(self, module: str, statement: ast.ImportFrom) -> str:
        """Return the module that a statement imports from."""
        if not statement.level:
            return statement.module or ""
        parts = module.split(".")
        up = statement.level - (module in self._packages)
        base = ".".join(parts[: len(parts) - up])
        return f"{base}.{statement.module}" if statement.module else base

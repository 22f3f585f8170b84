"""Whether an expression means the same at another place of a script."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping

_SCOPES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Bindings:
    """Where a script gives names a meaning."""

    def __init__(self, tree: ast.Module, parents: Mapping[ast.AST, ast.AST]) -> None:
        self._tree = tree
        self._parents = parents
        self._lines: dict[tuple[ast.AST, str], list[int]] = defaultdict(list)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self._lines[self._scope(node), node.id].append(node.lineno)
            elif isinstance(node, ast.arg):
                self._lines[self._scope(node), node.arg].append(0)
            elif isinstance(node, ast.alias):
                bound = (node.asname or node.name).partition(".")[0]
                self._lines[self._scope(node), bound].append(node.lineno)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self._lines[self._scope(parents[node]), node.name].append(node.lineno)

    def _scope(self, node: ast.AST) -> ast.AST:
        while not isinstance(node, _SCOPES):
            node = self._parents[node]
        return node

    def _binding(self, name: str, at: ast.AST) -> ast.AST | None:
        """Return the scope that a name belongs to where it is used."""
        scope: ast.AST | None = self._scope(at)
        while scope is not None:
            if (scope, name) in self._lines:
                return scope
            scope = None if scope is self._tree else self._scope(self._parents[scope])
        return None

    def number(self, name: str) -> int:
        """Return at how many places a script gives a name a meaning."""
        return sum(len(lines) for (_, known), lines in self._lines.items() if known == name)

    def means_the_same(self, source: str, here: ast.expr, there: ast.expr) -> bool:
        """Tell whether an expression means the same at two places."""
        names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
        return all(self._same(name, here, there) for name in names)

    def _same(self, name: str, here: ast.expr, there: ast.expr) -> bool:
        scope = self._binding(name, here)
        if scope is None:
            return True  # it comes from elsewhere, and is the same everywhere
        if scope is not self._binding(name, there):
            return False
        lines = self._lines[scope, name]
        first, last = sorted((here.lineno, there.lineno))
        begins = 0 if self._scope(there) is not scope else there.lineno
        is_known = min(lines) <= begins if begins else True
        return is_known and not any(first < line < last for line in lines)

"""Read which names a package offers at its top level."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .sources import Sources

_STRUCTURE = "_import_structure", "_SUBMOD_ATTRS"
"""How libraries call the table of what they import when it is asked for."""


def exported(sources: Sources, package: str) -> dict[str, str]:
    """Return the names that a package exports, and the modules below it that have them.

    Args:
        sources: a release.
        package: the package.
    """
    tree = sources.parsed(package)
    lazy = dict(_lazy(tree))
    if lazy:
        return lazy
    names: dict[str, str] = {}
    for name, statements in sources.bound(package).items():
        for statement in statements:
            if isinstance(statement, ast.ImportFrom) and statement.level and name != "*":
                names[name] = statement.module or ""
            elif isinstance(statement, ast.FunctionDef | ast.ClassDef):
                names[name] = ""
    return {name: module for name, module in names.items() if not name.startswith("_")}


def _lazy(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield what the tables of lazily imported modules name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and target.id in _STRUCTURE:
                    yield from _table(node.value)
                elif key := _key(target):
                    yield from ((name, key) for name in _texts(node.value))
        elif isinstance(node, ast.AugAssign):
            if key := _key(node.target):
                yield from ((name, key) for name in _texts(node.value))
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("append", "extend")
            and (key := _key(node.func.value))
        ):
            yield from ((name, key) for name in _texts(*node.args))


def _table(value: ast.expr | None) -> Iterator[tuple[str, str]]:
    if isinstance(value, ast.Dict):
        for key, names in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant):
                yield from ((name, str(key.value)) for name in _texts(names))


def _key(node: ast.expr) -> str:
    """Return the module of `_import_structure["trainer"]`; nothing if it is something else."""
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in _STRUCTURE
        and isinstance(node.slice, ast.Constant)
    ):
        return str(node.slice.value)
    return ""


def _texts(*values: ast.expr | None) -> Iterator[str]:
    for value in values:
        for node in ast.walk(value) if value is not None else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value

"""What a module defines, read off its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..rewrite.locate import FunctionNode


def bindings(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """The names that a module or a class binds, and by which statement; `*` for a star import.

    What stands under `if`, `try`, `with` or in a loop counts, whatever would run.
    """
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield statement.name, statement
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                yield alias.asname or alias.name.partition(".")[0], statement
        else:
            for child in ast.iter_child_nodes(statement):
                for node in ast.walk(child) if isinstance(child, ast.expr) else ():
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        yield node.id, statement
            yield from bindings(_blocks(statement))


def definitions(tree: ast.Module, qualname: str) -> list[ast.stmt] | str:
    """The statements that bind a qualified name, or why there is none."""
    *path, name = qualname.split(".")
    body, owner = list(tree.body), ""
    for part in path:
        found = [statement for bound, statement in bindings(body) if bound == part]
        classes = [one for one in found if isinstance(one, ast.ClassDef)]
        if not classes:
            return f"{part} is {'no class that is defined there' if found else 'missing'}"
        body, owner = [statement for one in classes for statement in one.body], part
    found = [statement for bound, statement in bindings(body) if bound == name]
    return found or (f"{owner} does not define {name}" if owner else f"{name} is missing")


def parameters(function: FunctionNode) -> set[str]:
    """The names of a function's parameters."""
    given = function.args
    one_each = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return {one.arg for one in [*one_each, given.vararg, given.kwarg] if one is not None}


def _blocks(statement: ast.stmt) -> Iterator[ast.stmt]:
    for field in ("body", "orelse", "finalbody"):
        yield from getattr(statement, field, ())
    for branch in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from branch.body

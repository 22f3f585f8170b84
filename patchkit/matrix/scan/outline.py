"""List what a module defines, from its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ...rewrite.locate import FunctionNode


def bindings(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the names that a module or a class binds, and the statement; `*` for a star import.

    Code under `if`, `try`, `with` or in a loop counts, whether or not it would run.
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
    """Return the statements that bind a qualified name, or why there is none."""
    *path, name = qualname.split(".")
    body, owner = list(tree.body), ""
    for part in path:
        statements = [statement for bound, statement in bindings(body) if bound == part]
        classes = [statement for statement in statements if isinstance(statement, ast.ClassDef)]
        if not classes:
            return f"{part} is {'no class that is defined there' if statements else 'missing'}"
        body, owner = [statement for definition in classes for statement in definition.body], part
    statements = [statement for bound, statement in bindings(body) if bound == name]
    return statements or (f"{owner} does not define {name}" if owner else f"{name} is missing")


def parameters(function: FunctionNode) -> set[str]:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {
        parameter.arg
        for parameter in [*named, arguments.vararg, arguments.kwarg]
        if parameter is not None
    }


def _blocks(statement: ast.stmt) -> Iterator[ast.stmt]:
    for field in ("body", "orelse", "finalbody"):
        yield from getattr(statement, field, ())
    for branch in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from branch.body

"""No loop that a condition continues stands in a block that must be cleaned up.

CPython 3.12 and 3.13 give the jump back of such a loop no place in the table of handlers
(python/cpython#130279): an interrupt there leaves the `with` or `finally` undone, and the lock
held. In a function of its own the loop may be interrupted, since the call has its place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
ROOMS = ("patchkit/engine", "patchkit/precision", "patchkit/rewrite", "patches")
FILES = [
    str(file.relative_to(CHECKOUT))
    for room in ROOMS
    for file in sorted((CHECKOUT / room).rglob("*.py"))
]
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp, ast.ClassDef)


def must_be_cleaned_up(node: ast.AST) -> bool:
    if isinstance(node, ast.Try):
        caught = {
            handler.type.id for handler in node.handlers if isinstance(handler.type, ast.Name)
        }
        return bool(node.finalbody) or "BaseException" in caught
    return isinstance(node, (ast.With, ast.AsyncWith))


def within(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    """Return the nodes of these statements that run in the frame of their own function."""
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def is_continued_by_a_condition(node: ast.AST) -> bool:
    if isinstance(node, COMPREHENSIONS):
        return any(part.ifs for part in node.generators)
    if isinstance(node, ast.While) and not isinstance(node.test, ast.Constant):
        return True
    if isinstance(node, (ast.For, ast.While)):
        return isinstance(node.body[-1], (ast.If, ast.Assert, ast.Match))
    return False


def found_in(source: str) -> list[int]:
    """Return the lines of such loops; reproducers run in a process of their own."""
    return sorted(
        node.lineno
        for part in ast.parse(source).body
        if getattr(part, "name", "") != "reproduce"
        for block in ast.walk(part)
        if must_be_cleaned_up(block)
        for node in within(block.body)
        if is_continued_by_a_condition(node)
    )


@pytest.mark.parametrize("file", FILES)
def test_none_stands_there(file: str) -> None:
    assert not found_in(Path(CHECKOUT, file).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("block", "is_found"),
    [
        ("with lock:\n [x for x in y if x]", True),
        ("with lock:\n for x in y:\n  if x: f()", True),
        ("with lock:\n while x: f()", True),
        ("try:\n {x: x for x in y if x}\nfinally: f()", True),
        ("try:\n [x for x in y if x]\nexcept BaseException: f()", True),
        ("try:\n [x for x in y if x]\nexcept ValueError: f()", False),
        ("with lock:\n [x for x in y]", False),
        ("with lock:\n all(x for x in y if x)", False),
        ("with lock:\n for x in y:\n  if x: continue\n  f()", False),
        ("with lock:\n def f():\n  return [x for x in y if x]", False),
    ],
)
def test_the_search(block: str, is_found: bool) -> None:
    assert bool(found_in(block)) is is_found

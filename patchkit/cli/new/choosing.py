"""Choose the place of a function that a new patch is about."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...errors import UsageError
from ...rewrite import FunctionSource, Pattern
from ...rewrite import find as sites_of

_ALL_SHOWN = 25
_PRECISION = ("dtype", "float", "half", ".to(", "autocast", "scaler", "cast")


@dataclass(frozen=True)
class Site:
    """The place where a rewrite is anchored.

    Args:
        node: the site.
        pattern: code that matches it.
        sites: how many places of the function it matches; the site is one of them.
        literal: capital letters in it that are names of the function, and no holes.
        names: identifiers in it, as the compiled function has them.
    """

    node: ast.AST
    pattern: str
    sites: int
    literal: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def line(self) -> int:
        return int(getattr(self.node, "lineno", 0))


def statements(source: FunctionSource) -> list[ast.stmt]:
    """List the statements of a function, less docstrings, `pass` and definitions."""
    excluded = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass, ast.Try)
    return [
        node
        for node in _inner_statements(source.node)
        if not isinstance(node, excluded)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]


def candidates(everything: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a long function that mention precision; all, if none does."""
    if len(everything) <= _ALL_SHOWN:
        return everything
    likely = [node for node in everything if any(word in _header(node) for word in _PRECISION)]
    return likely or everything


def at_line(source: FunctionSource, line: int) -> Site:
    """Return the site at a line of the file.

    Raises:
        UsageError: there is no statement.
    """
    if not source.first <= line <= source.last:
        raise UsageError(
            f"--line: {source.qualname} is in lines {source.first} to {source.last} of "
            f"{source.name}, and {line} is not"
        )
    around = [node for node in _inner_statements(source.node) if _spans(node, line)]
    innermost = min(
        around, key=lambda node: (_last(node) - node.lineno, -node.lineno), default=None
    )
    nodes = _sites(innermost, line) if innermost else []
    if not nodes:
        lines = sorted(
            {node.lineno for node in statements(source)}, key=lambda number: abs(number - line)
        )
        near = " and ".join(map(str, sorted(lines[:2]))) or "none"
        raise UsageError(
            f"--line: {source.name} has no statement to rewrite at line {line}; the nearest are at "
            f"{near}"
        )
    return _anchor(source, nodes)


def with_code(source: FunctionSource, code: str) -> Site:
    """Return the site that is this code, or the one statement that contains it.

    Raises:
        UsageError: there is none, or more than one.
    """
    nodes: list[ast.AST] = []
    with contextlib.suppress(SyntaxError, ValueError):
        # The `F` of `F.linear` is meant as written, if it can be.
        for literal in dict.fromkeys((_capital_names(source, code), ())):
            nodes = nodes or _matches(source, code, literal)
            if len(nodes) == 1:
                return Site(nodes[0], code.strip(), 1, literal)
    if not nodes:
        squeezed = _squeeze(code)
        nodes = [
            node
            for node in statements(source)
            if squeezed and squeezed in _squeeze(_text(source, node))
        ]
        if len(nodes) == 1:
            assert isinstance(nodes[0], ast.stmt)
            return _anchor(source, _sites(nodes[0], nodes[0].lineno))
    if not nodes:
        raise UsageError(f"--find: {source.qualname} has no such code: {code!r}")
    lines = ", ".join(str(getattr(node, "lineno", "?")) for node in nodes)
    raise UsageError(
        f"--find: {code!r} occurs {len(nodes)} times in {source.qualname}, at lines {lines}; "
        "choose one with --line, or give more of the code"
    )


def _anchor(source: FunctionSource, nodes: list[ast.expr | ast.stmt]) -> Site:
    """Return the first of some nodes whose code occurs once in the function, else the last."""
    for node in nodes:
        text = ast.unparse(node)
        literal = _capital_names(source, text)
        matches = _matches(source, text, literal)
        if len(matches) == 1:
            break
    return Site(node, text, len(matches), literal)


def _capital_names(source: FunctionSource, pattern: str) -> tuple[str, ...]:
    """Return the single capital letters of a pattern that the function has as names.

    Raises:
        SyntaxError: it is not Python.
    """
    names = {node.id for node in ast.walk(source.node) if isinstance(node, ast.Name)}
    found = {node.id for node in ast.walk(ast.parse(pattern)) if isinstance(node, ast.Name)}
    return tuple(sorted(name for name in found & names if re.fullmatch("[A-Z]", name)))


def _matches(source: FunctionSource, pattern: str, literal: tuple[str, ...] = ()) -> list[ast.AST]:
    """Return the places of a function that a pattern finds.

    Raises:
        ValueError: it is not one expression or statement.
        SyntaxError: it is not Python.
    """
    return list(sites_of(source.node, Pattern(pattern, literal=literal)))


def _text(source: FunctionSource, node: ast.stmt) -> str:
    """Return the lines of a simple statement, or of the header of another."""
    last = _last(node)
    if isinstance(body := getattr(node, "body", None), list):
        last = max(node.lineno, body[0].lineno - 1)
    return "".join(source.lines[node.lineno - 1 : last])


def _squeeze(code: str) -> str:
    """Normalize code for a comparison: no spaces, one kind of quotes."""
    return "".join(code.split()).replace('"', "'")


def _inner_statements(function: ast.AST) -> Iterator[ast.stmt]:
    inner = (node for node in ast.walk(function) if isinstance(node, ast.stmt))
    others = (node for node in inner if node is not function)
    yield from sorted(others, key=lambda node: (node.lineno, node.col_offset))


def _last(node: ast.stmt | ast.expr) -> int:
    return node.end_lineno or node.lineno


def _spans(node: ast.stmt | ast.expr, line: int) -> bool:
    return node.lineno <= line <= _last(node)


def _is_compound(node: ast.stmt) -> bool:
    return hasattr(node, "body") or isinstance(node, ast.Match)


def _header_expressions(node: ast.stmt) -> list[ast.expr]:
    match node:
        case ast.If(test=only) | ast.While(test=only) | ast.Match(subject=only):
            return [only]
        case ast.For(iter=only) | ast.AsyncFor(iter=only):
            return [only]
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return [item.context_expr for item in items]
    return []


def _header(node: ast.stmt) -> str:
    """Return the code of a simple statement, or the expressions in the header of another."""
    if not _is_compound(node):
        return ast.unparse(node)
    return " ".join(map(ast.unparse, _header_expressions(node)))


def _sites(node: ast.stmt, line: int) -> list[ast.expr | ast.stmt]:
    """List the nodes of a statement that may be anchors, the shortest first."""
    if _is_compound(node):
        header = _header_expressions(node)
        at_line = [expression for expression in header if _spans(expression, line)]
        return list(at_line[:1] if at_line else header[:1] if line == node.lineno else [])
    value = getattr(node, "value", None)
    if isinstance(node, ast.Expr):
        return [node.value]
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return)) and not isinstance(
        value, (ast.Constant, ast.Name, ast.Attribute, type(None))
    ):
        return [value, node]
    return [] if isinstance(node, ast.Pass) else [node]


def contains(source: FunctionSource, code: str) -> bool:
    """Tell whether a function contains this code."""
    return _squeeze(code) in _squeeze("".join(source.lines[source.first - 1 : source.last]))

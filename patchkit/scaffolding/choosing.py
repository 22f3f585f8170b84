"""Which place of a function a new patch is about."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import UsageError
from ..rewrite import FunctionSource, Pattern
from ..rewrite import find as sites_of

_ALL_SHOWN = 25
_PRECISION = ("dtype", "float", "half", ".to(", "autocast", "scaler", "cast")


@dataclass(frozen=True)
class Statement:
    """A statement that a patch may be about; of a compound one only what stands in its header.

    Args:
        node: it.
        line: the number of its first line in the file, as tracebacks say it.
        code: its first line.
    """

    node: ast.stmt
    line: int
    code: str


@dataclass(frozen=True)
class Anchor:
    """Code that finds a site.

    Args:
        site: the node.
        pattern: the code of the pattern.
        sites: how many places of the function it matches; the site is one of them.
    """

    site: ast.AST
    pattern: str
    sites: int

    @property
    def line(self) -> int:
        return int(getattr(self.site, "lineno", 0))


def statements(source: FunctionSource) -> list[Statement]:
    """The statements of a function, less docstrings, `pass` and definitions."""
    found = []
    for node in _inner_statements(source.node):
        dull = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass, ast.Try)
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not isinstance(node, dull) and not docstring:
            code = source.lines[node.lineno - 1].strip()
            found.append(Statement(node, node.lineno, code))
    return found


def candidates(found: list[Statement]) -> list[Statement]:
    """Of a long function, the statements that speak of precision; all, if none does."""
    if len(found) <= _ALL_SHOWN:
        return found
    told = [one for one in found if any(word in _header(one.node) for word in _PRECISION)]
    return told or found


def at_line(source: FunctionSource, line: int) -> Anchor:
    """The site at a line of the file.

    Raises:
        UsageError: no statement stands there.
    """
    if not source.first <= line <= source.last:
        raise UsageError(
            f"--line: {source.qualname} is in lines {source.first} to {source.last} of "
            f"{source.name}, and {line} is not"
        )
    around = [
        node
        for node in _inner_statements(source.node)
        if node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    innermost = min(around, key=lambda node: (_height(node), -node.lineno), default=None)
    nodes = _sites(innermost, line) if innermost else []
    if not nodes:
        known = sorted({one.line for one in statements(source)}, key=lambda one: abs(one - line))
        near = " and ".join(map(str, sorted(known[:2]))) or "none"
        raise UsageError(
            f"--line: no statement to rewrite begins or stands at line {line} of {source.name}; "
            f"the nearest are at {near}"
        )
    return _anchor(source, nodes)


def with_code(source: FunctionSource, code: str) -> Anchor:
    """The site that is this code, or the one statement that contains it.

    Raises:
        UsageError: there is none, or more than one.
    """
    try:
        found = _matches(source, code)
    except (SyntaxError, ValueError):
        found = []
    if len(found) == 1:
        return Anchor(found[0], code.strip(), 1)
    if not found:
        wanted = _squeezed(code)
        found = [
            one.node
            for one in statements(source)
            if wanted and wanted in _squeezed(_text(source, one.node))
        ]
        if len(found) == 1:
            assert isinstance(found[0], ast.stmt)
            return _anchor(source, _sites(found[0], found[0].lineno))
    if not found:
        raise UsageError(f"--find: {source.qualname} has no such code: {code!r}")
    lines = ", ".join(str(getattr(one, "lineno", "?")) for one in found)
    raise UsageError(
        f"--find: {code!r} stands {len(found)} times in {source.qualname}, at lines {lines}; say "
        "which with --line, or give more of the code"
    )


def _anchor(source: FunctionSource, nodes: list[ast.expr | ast.stmt]) -> Anchor:
    """Return the first of some nodes whose code stands once in the function, else the last."""
    for node in nodes:
        text = ast.unparse(node)
        found = _matches(source, text)
        if len(found) == 1:
            break
    return Anchor(node, text, len(found))


def _matches(source: FunctionSource, pattern: str) -> list[ast.AST]:
    """Return the places of a function that a pattern finds.

    Raises:
        ValueError: it is not one expression or statement.
        SyntaxError: it is not Python.
    """
    return list(sites_of(source.node, Pattern(pattern)))


def _text(source: FunctionSource, node: ast.stmt) -> str:
    """The lines of a simple statement, or of the header of another."""
    last = node.end_lineno or node.lineno
    if isinstance(body := getattr(node, "body", None), list):
        last = max(node.lineno, body[0].lineno - 1)
    return "".join(source.lines[node.lineno - 1 : last])


def _squeezed(code: str) -> str:
    """Code without what does not matter when one looks for it."""
    return "".join(code.split()).replace('"', "'")


def _inner_statements(function: ast.AST) -> Iterator[ast.stmt]:
    found = (node for node in ast.walk(function) if isinstance(node, ast.stmt))
    yield from sorted(
        (node for node in found if node is not function),
        key=lambda node: (node.lineno, node.col_offset),
    )


def _height(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno


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
    """The code of a simple statement, or what stands in the header of another."""
    if not _is_compound(node):
        return ast.unparse(node)
    return " ".join(map(ast.unparse, _header_expressions(node)))


def _sites(node: ast.stmt, line: int) -> list[ast.expr | ast.stmt]:
    """What of a statement is worth being an anchor, the shortest first."""
    if _is_compound(node):
        header = _header_expressions(node)
        there = [one for one in header if one.lineno <= line <= (one.end_lineno or one.lineno)]
        return list(there[:1] if there else header[:1] if line == node.lineno else [])
    value = getattr(node, "value", None)
    if isinstance(node, ast.Expr):
        return [node.value]
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return)) and not isinstance(
        value, (ast.Constant, ast.Name, ast.Attribute, type(None))
    ):
        return [value, node]
    return [] if isinstance(node, ast.Pass) else [node]


def contains(source: FunctionSource, code: str) -> bool:
    """Whether such code stands in a function at all."""
    return _squeezed(code) in _squeezed("".join(source.lines[source.first - 1 : source.last]))

"""The text of a script, by the nodes of its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..reading.script import Script
from .edits import ITSELF, Span, span_of

_SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript)
_LOCAL = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Lines:
    """The lines of a script.

    Args:
        text: the script.
        script: what it names, and its syntax tree.
        sources: expressions that are replaced, and by what.
    """

    def __init__(self, text: str, script: Script, sources: Mapping[Span, str]) -> None:
        self._lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._script = script
        self._sources = sources

    def source(self, node: ast.expr) -> str:
        """Return the text of an expression, with what is replaced in it."""
        span = span_of(node)
        inner = [
            (place, source)
            for place, source in self._sources.items()
            if span[:2] <= place[:2] and place[2:] <= span[2:]
        ]
        parts: list[str] = []
        here = span[:2]
        for place, source in sorted(
            inner, key=lambda change: (change[0][:2], -change[0][2], -change[0][3])
        ):
            if here <= place[:2]:
                itself = self._between(place[:2], place[2:])
                parts += [self._between(here, place[:2]), source.replace(ITSELF, itself)]
                here = place[2:]
        return "".join([*parts, self._between(here, span[2:])])

    def _between(self, begin: tuple[int, int], end: tuple[int, int]) -> str:
        lines = [line.encode() for line in self._lines[begin[0] - 1 : end[0]]]
        lines[-1] = lines[-1][: end[1]]
        lines[0] = lines[0][begin[1] :]
        return b"\n".join(lines).decode()

    def has_comments(self, node: ast.stmt) -> bool:
        """Tell whether there are comments in a statement, or above it."""
        text = self._lines[node.lineno - 1 : node.end_lineno]
        return any("#" in line for line in text) or bool(self.comments_above(self.statement(node)))

    def comment_behind(self, node: ast.keyword) -> str:
        """Return the comment behind an argument that has a line of its own; empty if none is."""
        first, begin, last, end = span_of(node)
        before = self._lines[first - 1].encode()[:begin].decode()
        behind = self._lines[last - 1].encode()[end:].decode().lstrip(", \t")
        return behind.rstrip() if not before.strip() and behind.startswith("#") else ""

    def in_parentheses(self, node: ast.expr) -> str:
        """Return the text of an expression so that it can stand in a larger one."""
        text = self.source(node)
        return text if isinstance(node, _SIMPLE) else f"({text})"

    def indentation(self, node: ast.Call) -> str | None:
        """Return the indentation of the arguments of a call, if they have lines of their own."""
        parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        lower = [part.lineno for part in parts if part.lineno > node.lineno]
        if not lower:
            return None
        line = self._lines[min(lower) - 1]
        return line[: len(line) - len(line.lstrip())]

    def comments_above(self, span: Span) -> set[str]:
        """Return the comments right above a statement, without those that follow code."""
        found: set[str] = set()
        for line in reversed(self._lines[: span[0] - 1]):
            text = line.strip()
            if not text.startswith(("#", "@")):
                break
            found.add(text)
        return found

    def statement(self, node: ast.AST) -> Span:
        """Return where the statement is that a node is in, from the beginning of its line.

        Statements on one line are one.
        """
        here = node
        while True:
            while not isinstance(here, ast.stmt):
                here = self._script.parents[here]
            parent = self._script.parents[here]
            group = self._on_one_line(here, parent)
            first, last = group[0], group[-1]
            line = self._lines[first.lineno - 1].encode()
            is_first = not line[: first.col_offset].strip()
            if (is_first and not line.strip().startswith(b"elif")) or isinstance(
                parent, ast.Module
            ):
                return (*span_of(first)[:2], *span_of(last)[2:])
            here = parent

    def can_go(self, node: ast.AST) -> bool:
        """Tell whether an expression is a statement that can be left out with its comments."""
        if not isinstance(node, ast.Expr) or self.statement(node) != span_of(node):
            return False
        above = self._lines[: node.lineno - 1 - len(self.comments_above(span_of(node)))]
        nearest = next((line.strip() for line in reversed(above) if line.strip()), "")
        parts = (part for _, part in ast.iter_fields(self._script.parents[node]))
        beside = next(part for part in parts if isinstance(part, list) and node in part)
        return len(beside) > 1 and not nearest.startswith("#")

    def is_in_text(self, node: ast.AST) -> bool:
        """Tell whether an expression is part of a formatted text, where quotes may end it."""
        return any(isinstance(outer, ast.JoinedStr) for outer in self._script.around(node))

    def is_local(self, node: ast.AST) -> bool:
        """Tell whether names of a node may only be known inside an expression around it."""
        return any(isinstance(outer, _LOCAL) for outer in (node, *self._script.around(node)))

    @staticmethod
    def _on_one_line(statement: ast.stmt, parent: ast.AST) -> list[ast.stmt]:
        """Return the statements that share a line with one, and itself."""
        for _, body in ast.iter_fields(parent):
            if not isinstance(body, list) or statement not in body:
                continue
            begin = end = body.index(statement)
            while begin and body[begin - 1].end_lineno == body[begin].lineno:
                begin -= 1
            while end + 1 < len(body) and body[end].end_lineno == body[end + 1].lineno:
                end += 1
            return body[begin : end + 1]
        return [statement]

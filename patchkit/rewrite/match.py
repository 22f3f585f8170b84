"""Structural patterns on the syntax tree, written as the code they match."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

Matcher = Callable[[ast.AST], bool]
"""A predicate: is this node a site? A plain function with a `match` statement serves as well."""

_METAVARIABLE = re.compile(r"[A-Z]")


class Pattern:
    """Code with holes: `Pattern("P.data = P.data.to(torch.bfloat16)")`.

    A single capital letter stands for any expression, and for the same one wherever it comes
    again; all else must be as written. Differences that the syntax tree does not show (spaces,
    comments, quotes, line breaks) do not matter.

    Args:
        snippet: one expression or one statement.
        literal: capital letters that stand for themselves, such as the `F` of
            `Pattern("F.log_softmax(X)", literal=("F",))`.

    Raises:
        ValueError: a name in `literal` is not a capital letter of the snippet.
    """

    def __init__(self, snippet: str, *, literal: tuple[str, ...] = ()) -> None:
        self.snippet = snippet
        self.literal = literal
        for letter in literal:
            if not _METAVARIABLE.fullmatch(letter) or not re.search(rf"\b{letter}\b", snippet):
                raise ValueError(
                    f"{letter!r} is not a capital letter that stands alone in {snippet!r}"
                )
        self._bound = {letter: ast.Name(letter, ast.Load()) for letter in literal}

    def __repr__(self) -> str:
        literal = f", literal={self.literal!r}" if self.literal else ""
        return f"Pattern({self.snippet!r}{literal})"

    @cached_property
    def _tree(self) -> ast.AST:
        (statement,) = ast.parse(self.snippet).body
        return statement.value if isinstance(statement, ast.Expr) else statement

    @cached_property
    def kind(self) -> type[ast.AST] | None:
        """The type of the nodes that match; None where the pattern is a hole and nothing else."""
        tree = self._tree
        is_letter = isinstance(tree, ast.Name) and bool(_METAVARIABLE.fullmatch(tree.id))
        return None if is_letter and not self.literal else type(tree)

    def __call__(self, node: ast.AST) -> bool:
        """Tell whether the node itself is such code."""
        return self.kind in (None, type(node)) and _unify(self._tree, node, {**self._bound})

    def holes(self, node: ast.AST) -> dict[str, str]:
        """Return the code that each capital letter stands for in a node that matches.

        Raises:
            ValueError: the node does not match; or, of the mapping, the pattern has no such hole.
        """
        nodes: dict[str, ast.AST] = {**self._bound}
        if not _unify(self._tree, node, nodes):
            raise ValueError(f"{ast.unparse(node)!r} does not match {self!r}")
        return _Holes(
            self,
            {
                letter: ast.unparse(code)
                for letter, code in nodes.items()
                if letter not in self._bound
            },
        )

    def within(self, node: ast.AST) -> bool:
        """Tell whether the node contains such code anywhere."""
        return any(map(self, walk(node)))


class _Holes(dict[str, str]):
    """The code that stands in the holes of a pattern."""

    def __init__(self, pattern: Pattern, codes: dict[str, str]) -> None:
        super().__init__(codes)
        self._pattern = pattern

    def __missing__(self, letter: str) -> str:
        raise ValueError(
            f"{self._pattern!r} has no hole {letter}; it has {', '.join(self) or 'none'}"
        )


def find(tree: ast.AST, matcher: Matcher) -> Iterator[ast.AST]:
    """Yield all nodes of a tree that match, in the order of the source.

    The inside of a match is not searched, so that a site counts once.
    """
    # A list and loops: generators inside each other take three times as long.
    waiting = [tree]
    kind = matcher.kind if isinstance(matcher, Pattern) else None
    while waiting:
        node = waiting.pop()
        if (kind is None or type(node) is kind) and matcher(node):
            yield node
        elif (parts := _PARTS.get(type(node), _parts)) is not None:
            waiting += parts(node)


def walk(tree: ast.AST) -> list[ast.AST]:
    """Return all nodes of a tree but for operators and the like; quicker than `ast.walk`."""
    nodes = [tree]
    for node in nodes:
        if (parts := _PARTS.get(type(node), _parts)) is not None:
            nodes += parts(node)
    return nodes


def _parts(node: ast.AST) -> list[ast.AST]:
    """Return the nodes that a node is made of, the last one first."""
    parts: list[ast.AST] = []
    fields = _fields_with_nodes.get(type(node))
    if fields is None:
        fields = _learn_fields(node)
    for name in fields:
        value = getattr(node, name, None)
        if type(value) is list:
            if name in _MIXED:
                value = [item for item in value if isinstance(item, ast.AST)]
            parts += value[::-1]
        elif isinstance(value, ast.AST):
            parts.append(value)
    return parts


_WITHOUT_NODES = {"ctx", "op", "ops", "id", "attr", "type_comment", "kind"}
"""Fields with names and numbers, or with operators, which have no place in the source."""

_MIXED = {"keys", "kw_defaults", "names", "kwd_attrs"}
"""Lists that may also hold None or strings."""

_fields_with_nodes: dict[type[ast.AST], tuple[str, ...]] = {}

# The commonest nodes, by hand: that takes half the time. None has no parts.
_PARTS: dict[type[ast.AST], Callable[[Any], Sequence[ast.AST]] | None] = {
    ast.Constant: None,
    ast.Name: None,
    ast.Attribute: lambda node: (node.value,),
    ast.Assign: lambda node: (node.value, *node.targets[::-1]),
    ast.BinOp: lambda node: (node.right, node.left),
    ast.BoolOp: lambda node: node.values[::-1],
    ast.Call: lambda node: (*node.keywords[::-1], *node.args[::-1], node.func),
    ast.Compare: lambda node: (*node.comparators[::-1], node.left),
    ast.Expr: lambda node: (node.value,),
    ast.If: lambda node: (*node.orelse[::-1], *node.body[::-1], node.test),
    ast.Subscript: lambda node: (node.slice, node.value),
    ast.UnaryOp: lambda node: (node.operand,),
    ast.keyword: lambda node: (node.value,),
}


def _learn_fields(node: ast.AST) -> tuple[str, ...]:
    """Return the fields to look into, the last one first."""
    fields = tuple(name for name in reversed(node._fields) if name not in _WITHOUT_NODES)
    if isinstance(node, ast.JoinedStr) and not _PLACES_IN_F_STRINGS:
        _mark_inside(node)
    else:
        _fields_with_nodes[type(node)] = fields
    return fields


_PLACES_IN_F_STRINGS = sys.version_info >= (3, 12)
"""True if Python records the right place of an expression in an f-string, as from 3.12 on."""


def mark_f_strings(tree: ast.AST) -> None:
    """Mark nodes whose place this Python does not record; `edit.span` refuses them."""
    if not _PLACES_IN_F_STRINGS:
        walk(tree)


def _mark_inside(string: ast.JoinedStr) -> None:
    if not hasattr(string, "is_marked"):
        string.is_marked = True  # type: ignore[attr-defined]
        for node in walk(string):
            if node is not string:
                node.place_unknown = True  # type: ignore[attr-defined]


def mentions(tree: ast.AST, name: str) -> bool:
    """Tell whether a variable or attribute of that name occurs in the tree."""
    return any(
        (isinstance(node, ast.Name) and node.id == name)
        or (isinstance(node, ast.Attribute) and node.attr == name)
        for node in walk(tree)
    )


def _unify(pattern: object, node: object, holes: dict[str, ast.AST]) -> bool:
    if isinstance(pattern, ast.Name) and _METAVARIABLE.fullmatch(pattern.id):
        if not isinstance(node, ast.expr):
            return False
        bound = holes.setdefault(pattern.id, node)
        # But for the context: `p.data` is the same stored to and loaded from.
        return bound is node or ast.unparse(bound) == ast.unparse(node)
    if isinstance(pattern, ast.AST):
        return type(pattern) is type(node) and all(
            _unify(value, getattr(node, field, None), holes)
            for field, value in ast.iter_fields(pattern)
            if field not in ("ctx", "type_comment")
        )
    if isinstance(pattern, list):
        return (
            isinstance(node, list)
            and len(pattern) == len(node)
            and all(_unify(p, n, holes) for p, n in zip(pattern, node, strict=True))
        )
    return type(pattern) is type(node) and pattern == node

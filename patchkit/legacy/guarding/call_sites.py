"""Where a call stands in the source of a script."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType

_SCOPES = (
    ast.Module,
    ast.ClassDef,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.GeneratorExp,
    ast.DictComp,
)
"""What has variables of its own."""
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign)


@dataclass(frozen=True)
class Source:
    """The source of a file, or of a cell.

    Args:
        tree: its syntax tree.
        parents: each node of it but the first, to the node that it is part of.
    """

    tree: ast.Module
    parents: Mapping[ast.AST, ast.AST]

    def calls(self, name: str) -> Iterator[ast.Call]:
        """Return the calls of functions and methods of a name."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and called(node) == name:
                yield node

    def reads(self, attribute: str) -> Iterator[ast.Attribute]:
        """Return where an attribute of a name is read."""
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if node.attr == attribute:
                yield node

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Return the nodes that a node is part of, the smallest first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def uses(self, name: ast.Name) -> Iterator[ast.Name]:
        """Return where a variable is read that got its value at one place, as far as it shows.

        Args:
            name: the variable, where it gets the value.
        """
        scope = next(node for node in self.around(name) if isinstance(node, _SCOPES))
        start, end = self._assigned(name), (sys.maxsize, 0)
        found = [other for other in _names(scope, name.id) if other is not name]
        for other in found:
            if not self._is_read(other) and start < self._assigned(other) < end:
                end = self._assigned(other)
        for other in found:
            if self._is_read(other) and start < _end(other) <= end:
                yield other

    def _is_read(self, name: ast.Name) -> bool:
        return isinstance(name.ctx, ast.Load) or isinstance(self.parents[name], ast.AugAssign)

    def _assigned(self, name: ast.Name) -> tuple[int, int]:
        """Return where a variable has a value from."""
        parent = self.parents[name]
        return _end(parent if isinstance(parent, _ASSIGNMENTS) else name)


def called(call: ast.Call) -> str:
    """Return the last part of the name of what is called; empty if it has none."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def find_call(frame: FrameType, name: str) -> tuple[Source, ast.Call] | None:
    """Return the call that a frame is carrying out.

    Args:
        frame: a frame.
        name: the last part of the name of what is called.

    Returns:
        None if the source is not there, or has several such calls that cannot be told apart.
    """
    source = _source("".join(linecache.getlines(frame.f_code.co_filename)))
    if source is None:
        return None
    end = _position(frame.f_code, frame.f_lasti)
    found = [
        call
        for call in source.calls(name)
        if call.lineno <= frame.f_lineno <= (call.end_lineno or 0)
        and (end is None or _end(call) == end)
    ]
    return (source, found[0]) if len(found) == 1 else None


@lru_cache(maxsize=8)
def _source(text: str) -> Source | None:
    try:
        tree = ast.parse(text)
    except SyntaxError:  # lines of a notebook that are no Python
        return None
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return Source(tree, parents) if parents else None


def _position(code: CodeType, offset: int) -> tuple[int, int] | None:
    """Return where the source of an instruction ends; None if that is not known."""
    if sys.version_info < (3, 11):
        return None
    _, line, _, column = next(islice(code.co_positions(), offset // 2, None))
    return None if line is None or column is None else (line, column)


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def _names(scope: ast.AST, name: str) -> Iterator[ast.Name]:
    """Return where a variable of a scope stands, in scopes inside of it as well."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.Name) and node.id == name:
            yield node
        elif not isinstance(node, _SCOPES) or name not in _bound(node):
            yield from _names(node, name)


def _bound(scope: ast.AST) -> set[str]:
    """Return the names of a scope's own parameters and variables."""
    return {
        node.arg if isinstance(node, ast.arg) else node.id
        for node in ast.walk(scope)
        if isinstance(node, ast.arg)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    }

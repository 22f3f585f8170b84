"""The source of what a frame runs: its call, its statement, and what catches its errors."""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType
from typing import Any, NamedTuple

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
"""Nodes that have variables of their own."""
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
_EXITS = ("exit", "_exit", "quit")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class CallSiteSource(NamedTuple):
    """The source of a file, or of a cell."""

    tree: ast.Module
    parents: Mapping[ast.AST, ast.AST]

    def calls(self, name: str) -> Iterator[ast.Call]:
        """Yield the calls of functions and methods of a name."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and called(node) == name:
                yield node

    def is_row(self, items: ast.Dict) -> bool:
        """Tell whether a dictionary is what a function returns to `Dataset.map`."""
        parent = self.parents.get(items)
        if isinstance(parent, ast.Lambda):
            return self._is_mapped(parent)
        if not isinstance(parent, ast.Return):
            return False
        function = next((node for node in self.around(parent) if isinstance(node, _SCOPES)), None)
        name = getattr(function, "name", None)
        return any(
            isinstance(node, ast.Name) and node.id == name and self._is_mapped(node)
            for node in ast.walk(self.tree)
        )

    def _is_mapped(self, node: ast.expr) -> bool:
        call = self.parents.get(node)
        if isinstance(call, ast.keyword) and call.arg == "function":
            call = self.parents.get(call)
        elif not isinstance(call, ast.Call) or call.args[:1] != [node]:
            return False
        return isinstance(call, ast.Call) and called(call) == "map"

    def reads(self, attribute: str) -> Iterator[ast.Attribute]:
        """Yield where an attribute of a name is read."""
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if node.attr == attribute:
                yield node

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes that a node is part of, the smallest first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def uses(self, name: ast.Name) -> Iterator[ast.Name]:
        """Yield where a variable is read that got its value at one place, as far as it shows.

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
    return last_part(call.func)


def last_part(node: ast.expr) -> str:
    """Return the last part of a name; empty if the expression is none."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def find_call(frame: FrameType, name: str) -> tuple[CallSiteSource, ast.Call] | None:
    """Return the call that a frame is carrying out.

    Returns:
        None if the source is not there, or has several such calls that cannot be told apart.
    """
    source = source_of(frame)
    if source is None:
        return None
    found = list(_calls_in(frame, source, name))
    return (source, found[0]) if len(found) == 1 else None


def _calls_in(frame: FrameType, source: CallSiteSource, name: str) -> Iterator[ast.Call]:
    """Yield the calls that a frame may be carrying out."""
    end = _position(frame.f_code, frame.f_lasti)
    for call in source.calls(name):
        is_here = call.lineno <= frame.f_lineno <= (call.end_lineno or 0)
        if is_here and (end is None or _end(call) == end):
            yield call


def find_statement(
    frame: FrameType, cls: type[ast.stmt] = ast.stmt
) -> tuple[CallSiteSource, ast.stmt] | None:
    """Return the innermost statement of a class in the line that a frame is carrying out.

    Returns:
        None if there is none, or its source is not there.
    """
    source = source_of(frame)
    found: ast.stmt | None = None
    for node in ast.walk(source.tree) if source is not None else ():
        # Nodes inside of others come after them.
        if isinstance(node, cls) and node.lineno <= frame.f_lineno <= (node.end_lineno or 0):
            found = node
    return None if source is None or found is None else (source, found)


def catches(frame: FrameType, error: type[Exception]) -> bool:
    """Tell whether a frame has an answer to an error that its statement would raise.

    `except Exception` counts only around a block that does nothing but import and read: around a
    whole training it is no question whether something is there. A handler that raises again, or
    exits, is no answer.
    """
    found = find_statement(frame)
    if found is None:
        return False
    source, inner = found
    for node in source.around(inner):
        if isinstance(node, _FUNCTIONS):
            return False
        if isinstance(node, ast.Try) and inner in node.body:
            is_broad = all(map(_only_asks, node.body))
            handlers = (
                handler
                for handler in node.handlers
                if _names_error(frame, handler.type, error, is_broad)
            )
            handler = next(handlers, None)
            if handler is not None and not _gives_up(handler.body[-1]):
                return True
        elif isinstance(node, (ast.With, ast.AsyncWith)) and inner in node.body:
            for item in node.items:
                for part in ast.walk(item.context_expr):
                    if isinstance(part, ast.Name) and _names_error(frame, part, error, False):
                        return True
        inner = node if isinstance(node, ast.stmt) else inner
    return False


def _only_asks(statement: ast.stmt) -> bool:
    """Tell whether a statement imports or reads, and calls nothing."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)):
        return not any(isinstance(node, ast.Call) for node in ast.walk(statement))
    return isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass))


def _gives_up(last: ast.stmt) -> bool:
    """Tell whether a handler ends the program, or lets others answer, by its last statement."""
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return called(last.value) in _EXITS
    return isinstance(last, ast.Raise)


def _names_error(
    frame: FrameType, node: ast.expr | None, error: type[Exception], is_broad: bool
) -> bool:
    """Tell whether an expression names an error or one that it derives from."""
    if node is None:
        return is_broad
    if isinstance(node, ast.Tuple):
        return any(_names_error(frame, part, error, is_broad) for part in node.elts)
    named = _value(frame, node)
    for known in named if isinstance(named, tuple) else (named,):
        if isinstance(known, type) and issubclass(error, known):
            return is_broad or known not in (Exception, BaseException)
    return False


def _value(frame: FrameType, node: ast.expr) -> Any:
    """Return what a name stands for in a frame; None if it is another expression."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    for namespace in (frame.f_locals, frame.f_globals, vars(builtins)):
        if name in namespace:
            return namespace[name]
    return None


def asks_for_attribute(frame: FrameType) -> bool:
    """Tell whether the call that a frame makes is `hasattr`, or `getattr` with a default."""
    names = frame.f_code.co_names
    if "hasattr" not in names and "getattr" not in names:
        return False
    source = source_of(frame)
    if source is None:
        return True
    return any(
        len(call.args) > default
        for name, default in (("hasattr", 1), ("getattr", 2))
        for call in _calls_in(frame, source, name)
    )


def source_of(frame: FrameType) -> CallSiteSource | None:
    """Return the source of what a frame runs; None if there is none on disk."""
    return _source("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))


@lru_cache(maxsize=8)
def _source(text: str) -> CallSiteSource | None:
    try:
        tree = ast.parse(text)
    except SyntaxError:  # lines of a notebook that are no Python
        return None
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return CallSiteSource(tree, parents) if parents else None


def _position(code: CodeType, offset: int) -> tuple[int, int] | None:
    """Return where the source of an instruction ends; None if that is not known."""
    if sys.version_info < (3, 11):
        return None
    _, line, _, column = next(islice(code.co_positions(), offset // 2, None))
    return None if line is None or column is None else (line, column)


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def _names(scope: ast.AST, name: str) -> Iterator[ast.Name]:
    """Yield where a variable of a scope stands, also in scopes inside of it."""
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

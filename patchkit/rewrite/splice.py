"""The syntax tree of an edited function, of which only what was edited is parsed again."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

from .edit import Edit
from .locate import FunctionNode, FunctionSource, first_line, function_at


class EditedTree(NamedTuple):
    """A function after some edits.

    Args:
        tree: the function with its surroundings.
        node: the function.
        before: the statements that the edits change, before them.
        after: the same statements after the edits.
        whole: whether the whole function was parsed.
    """

    tree: ast.Module
    node: FunctionNode
    before: list[ast.stmt]
    after: list[ast.stmt]
    whole: bool


def edited_tree(
    source: FunctionSource, edits: Sequence[Edit], lines: Sequence[str]
) -> EditedTree | None:
    """Parse a function after edits.

    Edited statements that fill whole lines are parsed alone and replace the old ones in the tree:
    the result is the same as of parsing the whole text, at a fraction of the cost.

    Returns:
        None if the function is no longer in its place.

    Raises:
        SyntaxError: the text does not parse.
    """
    if edits and (place := _enclosing_statements(source, edits)):
        begin, end = place
        before = source.node.body[begin:end]
        first, last = first_line(before[0]), before[-1].end_lineno
        after = source.context.parse_block("".join(lines[first - 1 : last]), first)
        node = copy.copy(source.node)
        node.body = [*source.node.body[:begin], *after, *source.node.body[end:]]
        tree = _replace_function(source.tree, source.node, node)
        assert isinstance(tree, ast.Module)
        return EditedTree(tree, node, before, after, whole=False)
    tree = source.context.parse("".join(lines[source.first - 1 : source.last]))
    function = function_at(tree, source.context)
    if function is None:
        return None
    before, after = source.node.body, function.body
    if len(before) == len(after):
        # Statements stay on their lines: those without an edit are what they were.
        touched = [any(_is_touched(statement, edit) for edit in edits) for statement in before]
        before, after = list(compress(before, touched)), list(compress(after, touched))
    return EditedTree(tree, function, before, after, whole=True)


def _enclosing_statements(source: FunctionSource, edits: Sequence[Edit]) -> tuple[int, int] | None:
    """Return the range of body statements that contain all edits; None to parse the whole body."""
    body = source.node.body
    first = min(edit.start[0] for edit in edits)
    last = max(edit.end[0] for edit in edits)
    if 2 * (last - first + 1) > source.last - source.first:
        return None
    begin = next((i for i, statement in enumerate(body) if _last_line(statement) >= first), None)
    if begin is None:
        return None
    while begin and first_line(body[begin]) <= _last_line(body[begin - 1]):
        begin -= 1
    end = begin + 1
    while end < len(body) and first_line(body[end]) <= max(last, _last_line(body[end - 1])):
        end += 1
    # The first statement may follow the colon, or a line that a backslash continues.
    statement = body[begin]
    line = source.lines[first_line(statement) - 1]
    above = source.lines[first_line(statement) - 2]
    at_first = (
        line.lstrip(" \t\f").startswith("@")
        if _has_decorators(statement)
        else (not line.encode()[: statement.col_offset].strip(b" \t\f"))
    )
    if not at_first or above.rstrip("\n").endswith("\\"):
        return None
    return begin, end


def _has_decorators(statement: ast.stmt) -> bool:
    return bool(getattr(statement, "decorator_list", None))


def _is_touched(statement: ast.stmt, edit: Edit) -> bool:
    return first_line(statement) <= edit.end[0] and edit.start[0] <= _last_line(statement)


def _last_line(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _replace_function(tree: ast.AST, old: FunctionNode, new: FunctionNode) -> ast.AST:
    """Return a tree of headers, each the first in the body of its parent, with another function."""
    if tree is old:
        return new
    clone = copy.copy(tree)
    first, *others = tree.body  # type: ignore[attr-defined]
    clone.body = [_replace_function(first, old, new), *others]  # type: ignore[attr-defined]
    return clone

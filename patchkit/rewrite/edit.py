"""Edits of source text, anchored at syntax nodes, that keep every line where it is."""

from __future__ import annotations

import ast
import io
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_ENDS_WITH_WORD = re.compile(r"\w\Z")
_BEGINS_WITH_WORD = re.compile(r"[\w\"']")


class Edit(NamedTuple):
    """Replace a stretch of a file.

    Attributes:
        start: line (from 1) and column (UTF-8 bytes, from 0, as `ast` counts) where it begins.
        end: line and column just past its end; equal to `start` for an insertion.
        text: what stands there afterwards.
    """

    start: tuple[int, int]
    end: tuple[int, int]
    text: str

    def overlaps(self, other: Edit) -> bool:
        """Tell whether both touch the same characters, or insert at the same place."""
        if self.start == other.start:
            return True
        return self.start < other.end and other.start < self.end


def span(node: ast.expr | ast.stmt) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return where a node begins, and where it ends.

    Raises:
        ValueError: this Python does not record it.
    """
    if getattr(node, "place_unknown", False):
        raise ValueError("before Python 3.12 the place of code inside an f-string is not known")
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def replace(node: ast.expr | ast.stmt, text: str) -> Edit:
    """Replace a node with `text`; a backslash continues each line that the text does not need.

    Raises:
        ValueError: the text has more lines than the node.
    """
    start, end = span(node)
    spare = (end[0] - start[0]) - text.count("\n")
    if spare < 0:
        raise ValueError(f"a replacement may not add lines: {text!r}")
    return Edit(start, end, text + " \\\n" * spare)


def drop(statement: ast.stmt) -> Edit:
    """Replace a statement with `pass`."""
    start, end = span(statement)
    return Edit(start, end, "pass" + "\n" * (end[0] - start[0]))


def operand(expression: ast.expr) -> str:
    """Return the text of an expression, in brackets where an operator or `.name` needs them.

    Brackets in the source surround a node and do not belong to it.
    """
    text = ast.unparse(expression)
    atomic = isinstance(expression, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    return text if atomic else f"({text})"


def insert_after(node: ast.expr, text: str) -> Edit:
    """Put `text` right behind an expression."""
    _, end = span(node)
    return Edit(end, end, text)


def require(test: ast.expr, condition: str) -> list[Edit]:
    """Make a test hold only where `condition`, an expression, holds too.

    The condition is evaluated first, so that a false one costs nothing more.
    """
    start, end = span(test)
    return [Edit(start, start, f"({condition}) and ("), Edit(end, end, ")")]


def helper(path: str) -> str:
    """Return an expression that fetches `package.module:name` when it runs.

    Rewritten code calls helpers this way, so that nothing is added to the namespace of the module
    that it lives in.
    """
    module, _, name = path.partition(":")
    return f"__import__({module!r}, fromlist=({name!r},)).{name}"


def split_lines(text: str) -> list[str]:
    """Return the lines of a text as Python's tokenizer counts them, each ended by a newline.

    A carriage return ends one, with a newline behind it or without; a form feed does not.
    """
    return io.StringIO(text, newline=None).readlines()


def apply_edits(lines: Sequence[str], edits: Iterable[Edit]) -> tuple[str, ...]:
    """Return the lines of a file after some edits; their number does not change.

    Raises:
        ValueError: two of the edits overlap, or they are not of this file.
    """
    ordered = sorted(edits)
    for before, after in itertools.pairwise(ordered):
        if before.overlaps(after):
            raise ValueError(f"edits overlap at line {after.start[0]}")
    if ordered and not (ordered[0].start[0] >= 1 and ordered[-1].end[0] <= len(lines)):
        raise ValueError("an edit lies outside of the file")
    result = list(lines)
    for edit in reversed(ordered):
        (row, column), (end_row, end_column) = edit.start, edit.end
        head = result[row - 1].encode()[:column].decode()
        tail = result[end_row - 1].encode()[end_column:].decode()
        text = _join_words(_join_words(head, edit.text), tail) if edit.text else head + tail
        result[row - 1 : end_row] = split_lines(text)
    if len(result) != len(lines):
        raise ValueError("the edits changed the number of lines")
    return tuple(result)


def _join_words(text: str, following: str) -> str:
    """Join two texts, with a space where their words would become one.

    `return(a).f()` needs none until something else takes the place of `(a)`.
    """
    touch = _ENDS_WITH_WORD.search(text) and _BEGINS_WITH_WORD.match(following)
    return f"{text} {following}" if touch else text + following

"""Compile a function with the edits of rules, and check the result."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from types import CodeType

from .edit import Edit, apply_edits, span
from .errors import Drift
from .locate import FunctionSource, first_line
from .names import check_names
from .rule import Rule
from .splice import EditedTree, edited_tree


def edited_code(
    source: FunctionSource, edits: Sequence[Edit], rules: Sequence[Rule], filename: str
) -> CodeType:
    """Compile a function with edits, and check it before anyone runs it.

    Raises:
        Drift: the edited text does not parse, a postcondition fails, a name means two things, or
            the compiled function would not fit in the place of the old one.
    """
    _check_place(source, edits)
    try:
        lines = apply_edits(source.lines, edits)
        edited = edited_tree(source, edits, lines)
        if edited is None:
            raise Drift(f"the edit of {source.qualname} moves it")
        for rule in rules:
            _check_sites(source, edited, rule)
        check_names(source, edited.before, edited.after, rules)
        code = source.context.compile(edited.tree, filename)
    except (SyntaxError, ValueError) as error:
        raise Drift(f"the edit of {source.qualname} does not parse: {error}") from error
    if code is None or _kind(code) != _kind(source.code):
        raise Drift(f"the edit of {source.qualname} makes it another kind of function")
    if code.co_freevars != source.code.co_freevars:
        raise Drift(f"the edit of {source.qualname} changes what the function closes over")
    return code


def _check_place(source: FunctionSource, edits: Sequence[Edit]) -> None:
    """Raise `Drift` if an edit lies outside of the code that runs when the function is called."""
    first, last = source.node.body[0], source.node.body[-1]
    begin, end = (first_line(first), first.col_offset), span(last)[1]
    if begin[0] < first.lineno:  # its decorators begin where it does
        begin = begin[0], 0
    for edit in edits:
        if edit.start < begin or edit.end > end:
            raise Drift(
                f"the buggy code in {source.qualname} at line {edit.start[0]} lies outside of its "
                "body"
            )


def _check_sites(source: FunctionSource, edited: EditedTree, rule: Rule) -> None:
    """Raise `Drift` if a site of a rule is left in the edited function.

    Code outside the edits was checked before, unless it lies inside a site.
    """
    if edited.whole or not all(_is_within(site, edited.before) for site in source.sites(rule.site)):
        rule.check(edited.node)
        return
    if rule.site(edited.node):
        rule.check(edited.node)
    for statement in edited.after:
        rule.check(statement)


def _is_within(site: ast.AST, statements: Sequence[ast.stmt]) -> bool:
    if not isinstance(site, (ast.expr, ast.stmt)):
        return False
    (first, _), (last, _) = span(site)
    return first_line(statements[0]) <= first and last <= span(statements[-1])[1][0]


def _kind(code: CodeType) -> int:
    """Return the flags of a generator, a coroutine or an asynchronous generator."""
    return code.co_flags & (
        inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    )

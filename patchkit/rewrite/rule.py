"""A rule says what to look for in a function and what to put there; here it is carried out."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType

from .compile import nested_codes
from .edit import Edit, apply_edits, span
from .errors import Drift
from .locate import FunctionSource, first_line
from .match import Matcher, find, mark_f_strings
from .names import check_names
from .splice import EditedTree, edited_tree

UNEXPECTED_SHAPE = (
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What code that takes a syntax tree apart raises where the tree has another shape.

Anything else, such as `NotImplementedError`, is an error in the patch.
"""


@dataclass(frozen=True)
class Rule:
    """One structural edit.

    Args:
        site: matches the nodes to edit. After the edit it must match nothing any more: that is
            the postcondition.
        edit: the edits for one such node.
        names: names that any function with a site mentions. They are looked up in the compiled
            code first, which takes microseconds where reading the source takes milliseconds.
        needs: names that the edited code takes from the module around it, such as `torch`; where
            one is missing the function is no target.
    """

    site: Matcher
    edit: Callable[[ast.AST], Sequence[Edit]]
    names: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def may_concern(self, code: CodeType) -> bool:
        """The cheap first look: whether the compiled code mentions all that a site mentions."""
        return all(_mentioned(code, name) for name in self.names)

    def plan(self, source: FunctionSource) -> list[list[Edit]]:
        """The edits of each site in a function, in the order of the source.

        Raises:
            Drift: the source is not one that the rule was written for.
        """
        try:
            sites = source.sites(self.site)
        except UNEXPECTED_SHAPE as error:
            raise Drift(f"looking for sites in {source.qualname} raised {_told(error)}") from error
        return [self._edits(source, site) for site in sites]

    def _edits(self, source: FunctionSource, site: ast.AST) -> list[Edit]:
        line = getattr(site, "lineno", source.first)
        given = getattr(site, "args", None)
        # `args.args` of such a function begins with its second or third parameter.
        if isinstance(given, ast.arguments) and given.posonlyargs:
            raise Drift(
                f"{source.qualname} has positional-only parameters at line {line}, for which the "
                "rule was not written"
            )
        mark_f_strings(site)
        try:
            return list(self.edit(site))
        except UNEXPECTED_SHAPE as error:
            raise Drift(
                f"the site in {source.qualname} at line {line} cannot be edited: {_told(error)}"
            ) from error

    def check(self, node: ast.AST) -> None:
        """Raise `Drift` if a site is left in an edited function."""
        left = next(find(node, self.site), None)
        if left is not None:
            line = getattr(left, "lineno", "?")
            raise Drift(f"the edit leaves a site of the bug behind, at line {line}")


def edited_code(
    source: FunctionSource, edits: Sequence[Edit], rules: Sequence[Rule], filename: str
) -> CodeType:
    """Compile a function with edits, and check it before anyone runs it.

    Args:
        source: the function unchanged.
        edits: all edits of it, of one rule or several.
        rules: the rules they come from; the postcondition of each is checked.
        filename: what tracebacks call the file.

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
                f"the site in {source.qualname} at line {edit.start[0]} lies outside of its body"
            )


def _check_sites(source: FunctionSource, edited: EditedTree, rule: Rule) -> None:
    """Raise `Drift` if a site of a rule is left in the edited function.

    What was not edited was looked at before, unless it stands inside of a site.
    """
    if edited.whole or not all(_within(site, edited.before) for site in source.sites(rule.site)):
        rule.check(edited.node)
        return
    if rule.site(edited.node):
        rule.check(edited.node)
    for statement in edited.after:
        rule.check(statement)


def _within(site: ast.AST, statements: Sequence[ast.stmt]) -> bool:
    if not isinstance(site, (ast.expr, ast.stmt)):
        return False
    (first, _), (last, _) = span(site)
    return first_line(statements[0]) <= first and last <= span(statements[-1])[1][0]


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _kind(code: CodeType) -> int:
    """Plain function, generator, coroutine or asynchronous generator."""
    return code.co_flags & (
        inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    )


def _mentioned(code: CodeType, name: str) -> bool:
    return any(name in inner.co_names for inner in nested_codes(code))

"""A rule says what to look for in a function and what to put there; here it is carried out."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType

from .edit import Edit, apply_edits
from .errors import Drift
from .locate import FunctionSource
from .match import Matcher, find


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
        """The edits of each site in a function, in the order of the source."""
        return [list(self.edit(site)) for site in find(source.node, self.site)]

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
        Drift: the edited text does not parse, a postcondition fails, or the compiled function
            would not fit in the place of the old one.
    """
    context = source.context
    try:
        lines = apply_edits(source.lines, edits)
        tree = context.parse("".join(lines[source.first - 1 : source.last]))
    except (SyntaxError, ValueError) as error:
        raise Drift(f"the edit of {source.qualname} does not parse: {error}") from error
    for rule in rules:
        rule.check(tree)
    code = context.compile(tree, filename)
    if code is None or _kind(code) != _kind(source.code):
        raise Drift(f"the edit of {source.qualname} makes it another kind of function")
    if code.co_freevars != source.code.co_freevars:
        raise Drift(f"the edit of {source.qualname} changes what the function closes over")
    return code


def _kind(code: CodeType) -> int:
    """Plain function, generator, coroutine or asynchronous generator."""
    return code.co_flags & (
        inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    )


def _mentioned(code: CodeType, name: str) -> bool:
    return name in code.co_names or any(
        isinstance(const, CodeType) and _mentioned(const, name) for const in code.co_consts
    )

"""A rule says what to look for in a function and what to put there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType

from .compile import nested_codes
from .edit import Edit
from .errors import Drift
from .locate import FunctionSource
from .match import Matcher, find, mark_f_strings

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


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _mentioned(code: CodeType, name: str) -> bool:
    return any(name in inner.co_names for inner in nested_codes(code))

"""Rules: what to look for in a function and what to put there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType

from .codes import names_in
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
"""Errors of code that takes a syntax tree apart if the tree has another shape.

Anything else, such as `NotImplementedError`, is an error in the patch.
"""


_MOST_SHOWN = 80
"""Letters of buggy code that a message shows."""


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
            one is missing the function is not a target.
    """

    site: Matcher
    edit: Callable[[ast.AST], Sequence[Edit]]
    names: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def may_concern(self, code: CodeType) -> bool:
        """Tell cheaply whether the compiled code mentions all that a site mentions."""
        return names_in(code).issuperset(self.names)

    def plan(self, source: FunctionSource) -> list[list[Edit]]:
        """Return the edits of each site in a function, in the order of the source.

        Raises:
            Drift: the rule was not written for this source.
        """
        try:
            sites = source.sites(self.site)
        except UNEXPECTED_SHAPE as error:
            raise Drift(
                f"looking for the buggy code in {source.qualname} raised {_describe(error)}"
            ) from error
        return [self.plan_site(source, site) for site in sites]

    def plan_site(self, source: FunctionSource, site: ast.AST) -> list[Edit]:
        """Return the edits of one site.

        Raises:
            Drift: it is not one that the rule was written for.
        """
        line = getattr(site, "lineno", source.first)
        parameters = getattr(site, "args", None)
        # `args.args` of such a function begins with its second or third parameter.
        if isinstance(parameters, ast.arguments) and parameters.posonlyargs:
            raise Drift(
                f"{source.qualname} has positional-only parameters at line {line}, for which the "
                "rule was not written"
            )
        mark_f_strings(site)
        try:
            return list(self.edit(site))
        except UNEXPECTED_SHAPE as error:
            raise Drift(
                f"the buggy code in {source.qualname} at line {line} cannot be edited: "
                f"{_describe(error)}"
            ) from error

    def check(self, node: ast.AST) -> None:
        """Raise `Drift` if a site is left in an edited function."""
        site = next(find(node, self.site), None)
        if site is not None:
            line = getattr(site, "lineno", "?")
            left = " ".join(ast.unparse(site).split())
            raise Drift(
                f"the edit leaves buggy code behind, at line {line}: what it puts there still has "
                f"{left[:_MOST_SHOWN]!r}. Let the pattern begin further out, with the call or the "
                "statement around, or change what the pattern finds"
            )


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__

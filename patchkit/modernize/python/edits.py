"""What is to be changed in a script, by the places where its nodes stand."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field

Span = tuple[int, int, int, int]
"""First line and column, last line and column; columns in bytes, as `ast` counts them."""


ITSELF = "\0"
"""In the source that replaces an expression: what that expression has become."""


def span_of(node: ast.AST) -> Span:
    """Return where a node stands."""
    return (
        node.lineno,  # type: ignore[attr-defined]
        node.col_offset,  # type: ignore[attr-defined]
        node.end_lineno,  # type: ignore[attr-defined]
        node.end_col_offset,  # type: ignore[attr-defined]
    )


@dataclass(frozen=True)
class NewImport:
    """A name to be imported.

    Args:
        bound: the name that it gets in the script.
    """

    module: str
    name: str
    bound: str

    @property
    def alias(self) -> str:
        """As it stands in an import statement."""
        return self.name if self.name == self.bound else f"{self.name} as {self.bound}"

    def __str__(self) -> str:
        return f"from {self.module} import {self.alias}"


@dataclass
class ScriptEdits:
    """Changes of a script.

    Args:
        keywords: arguments that get a keyword, or another one; also those of `dict(…)`.
        keys: keys of dictionaries in braces that become others.
        removed: arguments, parts of lists, keys of dictionaries whose entries go, simple
            statements, and blocks of `if`; blocks of `with`, whose statements stay.
        staying: arguments that go, while the comments behind them stay.
        sources: expressions that are replaced, and by what.
        added: calls and dictionaries that get more, as keyword and source.
        comments: calls that get comments behind what is added, by its keyword.
        dropped: names that import statements lose.
        extended: names that import statements get.
        modules: import statements that get another module, or become an import of a module.
        after: statements after another one.
        before: the same before one.
        remarks: comments above statements.
        parameters: functions that get parameters, as source.
        first: statements at the beginning of functions.
        renamed_parameters: parameters that get another name.
    """

    keywords: dict[Span, str] = field(default_factory=dict)
    keys: dict[Span, str] = field(default_factory=dict)
    removed: set[Span] = field(default_factory=set)
    staying: set[Span] = field(default_factory=set)
    sources: dict[Span, str] = field(default_factory=dict)
    added: dict[Span, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    comments: dict[Span, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    dropped: dict[Span, set[str]] = field(default_factory=lambda: defaultdict(set))
    extended: dict[Span, list[NewImport]] = field(default_factory=lambda: defaultdict(list))
    modules: dict[Span, str] = field(default_factory=dict)
    after: dict[Span, list[str]] = field(default_factory=lambda: defaultdict(list))
    before: dict[Span, list[str]] = field(default_factory=lambda: defaultdict(list))
    remarks: dict[Span, list[str]] = field(default_factory=lambda: defaultdict(list))
    parameters: dict[Span, list[str]] = field(default_factory=lambda: defaultdict(list))
    first: dict[Span, list[str]] = field(default_factory=lambda: defaultdict(list))
    renamed_parameters: dict[Span, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(vars(self).values())

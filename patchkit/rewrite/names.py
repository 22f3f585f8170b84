"""Check the names that an edit brings into a function against those that the function has."""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType
from typing import TYPE_CHECKING

from .codes import nested_codes
from .errors import Drift
from .match import walk

if TYPE_CHECKING:
    from .locate import FunctionSource
    from .rule import Rule


_FIELDS = {"arg", "name", "names", "rest"}
_NAMING = {
    cls
    for cls in vars(ast).values()
    if isinstance(cls, type) and not _FIELDS.isdisjoint(getattr(cls, "_fields", ()))
} - {ast.keyword}
"""The nodes other than `ast.Name` that may name variables."""


def check_names(
    source: FunctionSource,
    before: Sequence[ast.AST],
    after: Sequence[ast.AST],
    rules: Sequence[Rule],
) -> None:
    """Raise `Drift` if an edit takes a name that means something else in the function.

    An edit may rebind a name that it found in the source, such as a parameter. A name that the
    rule spells out must not occur in the function.
    """
    local = local_names(source.code)
    for name in sorted({name for rule in rules for name in rule.needs} & local):
        raise Drift(
            f"the edit of {source.qualname} takes {name} from the module, and the function has a "
            "variable of that name"
        )
    bound_before, called_before = _roles(before)
    bound_after, called_after = _roles(after)
    bound, called = bound_after - bound_before, called_after - called_before
    clashes = {name for name in bound if _has_variable(source, name)}
    clashes |= {name for name in called if name in local and hasattr(builtins, name)}
    for name in sorted(clashes):
        if any(_spells_out(rule, source, name) for rule in dict.fromkeys(rules)):
            raise Drift(
                f"the edit of {source.qualname} brings in the name {name}, which the function "
                "has already; choose another name"
            )


def _roles(trees: Iterable[ast.AST]) -> tuple[Counter[str], Counter[str]]:
    """Count the names that some code binds, and those that it calls."""
    bound: list[str] = []
    called: list[str] = []
    for tree in trees:
        for node in walk(tree):
            cls = type(node)
            if cls is ast.Name:
                if type(node.ctx) is not ast.Load:  # type: ignore[attr-defined]
                    bound.append(node.id)  # type: ignore[attr-defined]
            elif cls is ast.Call:
                if isinstance(node.func, ast.Name):  # type: ignore[attr-defined]
                    called.append(node.func.id)  # type: ignore[attr-defined]
            elif cls in _NAMING:
                bound += _names_in(node)
    return Counter(bound), Counter(called)


def _names_in(node: ast.AST) -> Iterator[str]:
    """Yield the names of variables that a node other than `ast.Name` mentions."""
    if isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names
    else:
        # Functions, classes, handlers, patterns and type parameters.
        for field in ("name", "rest"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name


def _has_variable(source: FunctionSource, name: str) -> bool:
    """Tell whether the unedited function has a variable of that name, or reads one."""
    text = "".join(source.lines[source.first - 1 : source.last])
    # Much quicker; another spelling of the same identifier is never ASCII.
    if text.isascii() and not re.search(rf"\b{re.escape(name)}\b", text):
        return False
    return any(
        node.id == name if isinstance(node, ast.Name) else name in _names_in(node)
        for node in walk(source.node)
    )


def local_names(code: CodeType) -> set[str]:
    """Return the variables of a function and of all that is defined in it."""
    return {
        name
        for inner in nested_codes(code)
        for name in (*inner.co_varnames, *inner.co_cellvars, *inner.co_freevars)
    }


def _spells_out(rule: Rule, source: FunctionSource, name: str) -> bool:
    """Tell whether a rule inserts this name whatever the function calls its variables.

    Rename the variable on a trial basis: if the rule still inserts the name, it spells it out. If
    the rule no longer matches the site, it depends on the name.
    """
    word = re.compile(rf"(?<![\w.'\"]){re.escape(name)}(?!\w)")
    with _rename(source.node, name, f"{name}_renamed"):
        try:
            return any(
                word.search(edit.text)
                for site in source.sites(rule.site)
                if rule.site(site)
                for edit in rule.edit(site)
            )
        except Exception:  # the patch's own code may raise anything
            return True


@contextlib.contextmanager
def _rename(function: ast.AST, name: str, other: str) -> Iterator[None]:
    """Rename a variable wherever it occurs, until the end of the block."""
    places = [
        (node, field)
        for node in walk(function)
        for field in ("id", "name", "asname", "rest", "arg")
        if getattr(node, field, None) == name and not isinstance(node, ast.keyword)
    ]
    for node, field in places:
        setattr(node, field, other)
    try:
        yield
    finally:
        for node, field in places:
            setattr(node, field, name)

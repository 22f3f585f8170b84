"""Names that an edit brings into a function, held against those that the function has."""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType
from typing import TYPE_CHECKING

from .errors import Drift
from .match import find

if TYPE_CHECKING:
    from .locate import FunctionSource
    from .rule import Rule


def check_names(
    source: FunctionSource,
    before: Sequence[ast.AST],
    after: Sequence[ast.AST],
    rules: Sequence[Rule],
) -> None:
    """Raise `Drift` if an edit takes a name that means something else in the function.

    An edit may bind a name anew that it found in the source, such as a parameter; one that the
    rule spells out must not occur in the function.

    Args:
        source: the function unchanged.
        before: what the edits changed, as it was.
        after: what stands there now.
        rules: where the edits come from.
    """
    local = _locals(source.code)
    for name in sorted({name for rule in rules for name in rule.needs} & local):
        raise Drift(
            f"the edit of {source.qualname} takes {name} from the module, and the function has a "
            "variable of that name"
        )
    bound = Counter(_bound(after)) - Counter(_bound(before))
    called = Counter(_called(after)) - Counter(_called(before))
    taken = {name for name in bound if _occurs(source, name)}
    taken |= {name for name in called if name in local and hasattr(builtins, name)}
    for name in sorted(taken):
        if any(_spells_out(rule, source.node, name) for rule in dict.fromkeys(rules)):
            raise Drift(
                f"the edit of {source.qualname} brings in the name {name}, which the function "
                "has already"
            )


def _bound(trees: Iterable[ast.AST]) -> Iterator[str]:
    """The names that some code binds, each as often as it does."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                if not isinstance(node.ctx, ast.Load):
                    yield node.id
            else:
                yield from _named_by(node)


def _called(trees: Iterable[ast.AST]) -> Iterator[str]:
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield node.func.id


def _named_by(node: ast.AST) -> Iterator[str]:
    """The names of variables that a node other than `ast.Name` mentions."""
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


def _occurs(source: FunctionSource, name: str) -> bool:
    """Whether the unedited function has a variable of that name, or reads one."""
    text = "".join(source.lines[source.first - 1 : source.last])
    # Much quicker; other spellings of the name than its own are never ASCII.
    if text.isascii() and not re.search(rf"\b{re.escape(name)}\b", text):
        return False
    return any(
        node.id == name if isinstance(node, ast.Name) else name in _named_by(node)
        for node in ast.walk(source.node)
    )


def _locals(code: CodeType) -> set[str]:
    """The variables of a function and of all that is defined in it."""
    names = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    for const in code.co_consts:
        if isinstance(const, CodeType):
            names |= _locals(const)
    return names


def _spells_out(rule: Rule, function: ast.AST, name: str) -> bool:
    """Whether the text of a rule has that name whatever the function calls its variables.

    Found by calling them otherwise. Where the rule finds no site then, it asks for the name, and
    so knows of it.
    """
    renamed = _Renaming(name, f"{name}_otherwise").visit(copy.deepcopy(function))
    word = re.compile(rf"(?<![\w.'\"]){re.escape(name)}(?!\w)")
    try:
        return any(
            word.search(edit.text) for site in find(renamed, rule.site) for edit in rule.edit(site)
        )
    except Exception:  # whatever the edit of whoever wrote the patch makes of it
        return True


class _Renaming(ast.NodeTransformer):
    """Calls a variable otherwise wherever it occurs."""

    def __init__(self, name: str, other: str) -> None:
        self._name = name
        self._other = other

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field in ("id", "name", "asname", "rest"):
            if getattr(node, field, None) == self._name:
                setattr(node, field, self._other)
        if isinstance(node, ast.arg) and node.arg == self._name:
            node.arg = self._other
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [self._other if name == self._name else name for name in node.names]
        return super().generic_visit(node)

"""Branches of a script that are for older releases of a library than the one it asks for."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from ...legacy.call_sites import called, last_part
from ...libraries import LIBRARIES
from . import kinship
from .script import ScriptCall

_VERSION, _LOOKED_UP = "__version__", frozenset({"version", "get_version"})
_COMPARED = frozenset({"compare_versions"})
"""Functions that get a library, a comparison and a release."""
_NEWER, _OLDER = (ast.Gt, ast.GtE), (ast.Lt, ast.LtE, ast.Eq)
_NAMED = re.compile(r"(?:is_)?(\w+?)_(ge|gt|le|lt)_v?\d+(?:_\d+)*")
"""Variables such as `transformers_lt_4_56`."""
_LISTING = frozenset(
    {
        *("signature", "getfullargspec", "co_varnames", "__code__", "__annotations__"),
        *("fields", "__dataclass_fields__"),
    }
)
"""What gives the parameters of a function, or the fields of a class."""
_DEEPEST = 3
"""Names of names that are followed."""
_TAKING_OVER = frozenset({"TypeError", "Exception", "BaseException"})


class Asking:
    """What the conditions of a script ask of the installed releases.

    Args:
        tree: the script.
        class_of: returns the class of a library that an expression is; empty if it is none.
    """

    def __init__(self, tree: ast.Module, class_of: Callable[[ast.expr], str]) -> None:
        self._tree = tree
        self._class_of = class_of

    def is_for_newer(self, test: ast.expr) -> bool | None:
        """Tell whether a condition holds for newer releases; None if it asks something else."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.is_for_newer(test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.BoolOp):
            decisive = isinstance(test.op, ast.Or)
            known = {self.is_for_newer(value) for value in test.values}
            return decisive if decisive in known else (not decisive if None not in known else None)
        if isinstance(test, ast.Name) and (named := _NAMED.fullmatch(test.id)):
            return named[2] in ("ge", "gt") if named[1] in LIBRARIES else None
        if isinstance(test, ast.Call):
            return self._is_answered(test)
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        name, listed = getattr(test.left, "value", None), test.comparators[0]
        if isinstance(test.ops[0], ast.In | ast.NotIn) and isinstance(name, str):
            is_taken = self._is_taken(name, [listed]) if _is_keyword(name) else None
            return None if is_taken is None else is_taken is isinstance(test.ops[0], ast.In)
        if not _is_version(test.left):
            return None
        if isinstance(test.ops[0], _NEWER):
            return True
        return False if isinstance(test.ops[0], _OLDER) else None

    def _is_answered(self, test: ast.Call) -> bool | None:
        """Tell what a function says for newer releases: of a release, or of a parameter."""
        if len(test.args) == 3 and called(test) in _COMPARED:
            library, comparison = (getattr(each, "value", None) for each in test.args[:2])
            return str(comparison).startswith(">") if library in LIBRARIES else None
        if len(test.args) not in (1, 2) or not isinstance(test.func, ast.Name):
            return None
        *objects, asked = test.args
        name = getattr(asked, "value", None)
        if not isinstance(name, str) or not _is_keyword(name):
            return None
        if test.func.id == "hasattr":
            return self._is_keyword_of(name, filter(None, map(self._class_of, objects)))
        return self._is_taken(name, [test.func, *objects])

    def _is_taken(self, name: str, listed: Iterable[ast.expr]) -> bool | None:
        """Tell whether a keyword is among parameters that expressions list."""
        parts = [part for each in listed for part in self._parts(each)]
        if not any(isinstance(part, ast.expr) and last_part(part) in _LISTING for part in parts):
            return None
        named = (part for part in parts if isinstance(part, ast.Name | ast.Attribute))
        return self._is_keyword_of(name, filter(None, map(self._class_of, named)), known=False)

    def _parts(self, node: ast.AST, depth: int = 0) -> Iterator[ast.AST]:
        """Yield the parts of an expression, of what its names are set to, and of its functions."""
        for part in ast.walk(node):
            yield part
            if not isinstance(part, ast.Name) or depth == _DEEPEST:
                continue
            for other in ast.walk(self._tree):
                if isinstance(other, ast.FunctionDef) and other.name == part.id:
                    yield from ast.walk(other)
                elif isinstance(other, ast.Assign) and part.id in map(last_part, other.targets):
                    yield from self._parts(other.value, depth + 1)

    @staticmethod
    def _is_keyword_of(name: str, classes: Iterable[str], known: bool = True) -> bool | None:
        """Tell whether classes take a keyword today; None if the table does not say.

        Args:
            name: the keyword.
            classes: the classes, with dots.
            known: whether nothing is to be said without a class.
        """
        public = kinship.ancestors(*classes)
        of_old, of_today = _keywords()
        if not public and known:
            return None
        if of_old[name] & set(public) or (not public and name not in of_today):
            return False
        return True if name in of_today else None


def without_alternatives(calls: Iterable[ScriptCall], node: ast.Try) -> Iterator[ScriptCall]:
    """Yield calls without the keywords for which a handler has a call that does without them.

    Such a call is tried with the keywords of one release, and then with those of another.
    """
    handlers = [each for each in node.handlers if catches(each, _TAKING_OVER)]
    tried = list(_calls_in(node.body)) if handlers else []
    others = [call for handler in handlers for call in _calls_in(handler.body)]
    for call in calls:
        of_others = others if call.node in tried else tried if call.node in others else []
        given = [_given(each) for each in of_others if ast.dump(each.func) == _function(call)]
        if given:
            kept = {name: each for name, each in call.keywords.items() if name in given[0]}
            call = replace(call, keywords=kept, complete=False)
        yield call


def _calls_in(statements: Iterable[ast.stmt]) -> Iterator[ast.Call]:
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                yield node


def _given(call: ast.Call) -> set[str | None]:
    return {keyword.arg for keyword in call.keywords}


def _function(call: ScriptCall) -> str:
    return ast.dump(call.node.func)


def catches(handler: ast.ExceptHandler, exceptions: Collection[str]) -> bool:
    """Tell whether a handler is for one of these exceptions, or for all."""
    if handler.type is None:
        return True
    classes = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(cls, ast.Name) and cls.id in exceptions for cls in classes)


def _is_keyword(name: str) -> bool:
    of_old, of_today = _keywords()
    return name in of_old or name in of_today


@cache
def _keywords() -> tuple[Mapping[str, frozenset[str]], frozenset[str]]:
    """Return the classes of each old keyword of the table, and the keywords that it leads to."""
    from ...legacy.changes import Keyword
    from ...legacy.decisions import decide
    from ...legacy.rows import all_rows

    of_old: dict[str, frozenset[str]] = defaultdict(frozenset)
    of_today: set[str] = set()
    for row in all_rows():
        if isinstance(row, Keyword):
            of_old[row.name] |= set(row.owners)
            of_today.add(decide(row).to)
    return of_old, frozenset(of_today)


def _is_version(node: ast.expr) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr == _VERSION:
            return getattr(part.value, "id", "") in LIBRARIES
        if isinstance(part, ast.Call) and part.args and isinstance(part.args[0], ast.Constant):
            name = getattr(part.func, "attr", getattr(part.func, "id", ""))
            if name in _LOOKED_UP and part.args[0].value in LIBRARIES:
                return True
    return False

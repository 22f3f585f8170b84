"""Branches of a script that are for older releases of a library than the one it asks for."""

from __future__ import annotations

import ast
import re

from ...legacy.call_sites import called
from ...libraries import LIBRARIES

_VERSION, _LOOKED_UP = "__version__", frozenset({"version", "get_version"})
_COMPARED = frozenset({"compare_versions"})
"""Functions that get a library, a comparison and a release."""
_NEWER, _OLDER = (ast.Gt, ast.GtE), (ast.Lt, ast.LtE, ast.Eq)
_NAMED = re.compile(r"(?:is_)?(\w+?)_(ge|gt|le|lt)_v?\d+(?:_\d+)*")
"""Variables such as `transformers_lt_4_56`."""


def is_read(node: ast.If) -> tuple[bool, bool]:
    """Tell which branches matter: that of a condition that holds, and the other one."""
    for_newer = _is_for_newer(node.test)
    return for_newer is not False, for_newer is not True


def _is_for_newer(test: ast.expr) -> bool | None:
    """Tell whether a condition holds for newer releases; None if it asks for something else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _is_for_newer(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.Name) and (named := _NAMED.fullmatch(test.id)):
        return named[2] in ("ge", "gt") if named[1] in LIBRARIES else None
    if isinstance(test, ast.Call) and len(test.args) == 3 and called(test) in _COMPARED:
        library, comparison = (getattr(each, "value", None) for each in test.args[:2])
        return str(comparison).startswith(">") if library in LIBRARIES else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not _is_version(test.left):
        return None
    if isinstance(test.ops[0], _NEWER):
        return True
    return False if isinstance(test.ops[0], _OLDER) else None


def _is_version(node: ast.expr) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr == _VERSION:
            return getattr(part.value, "id", "") in LIBRARIES
        if isinstance(part, ast.Call) and part.args and isinstance(part.args[0], ast.Constant):
            name = getattr(part.func, "attr", getattr(part.func, "id", ""))
            if name in _LOOKED_UP and part.args[0].value in LIBRARIES:
                return True
    return False

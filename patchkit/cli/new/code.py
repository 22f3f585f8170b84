"""Write values as Python source."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable

_WIDTH = 96
_HOLE = re.compile(r"__hole_([A-Z])__")


def string(text: str, indent: int = 0) -> str:
    """Write a string literal; one too long for a line in several parts, inside brackets."""
    whole = _quote(text)
    if len(whole) + indent <= _WIDTH:
        return whole
    room = _WIDTH - indent - 10
    parts = [text[start : start + room] for start in range(0, len(text), room)]
    inner = "".join(f"\n{' ' * (indent + 4)}{_quote(part)}" for part in parts)
    return f"({inner}\n{' ' * indent})"


def strings(values: Iterable[str]) -> str:
    """Write a tuple of string literals."""
    literals = [_quote(value) for value in values]
    return f"({', '.join(literals)}{',' if len(literals) == 1 else ''})"


def template(pattern: str, holes: Iterable[str], mapping: str) -> str:
    """Write a string literal of the code that a pattern stands for.

    Args:
        pattern: the code of the pattern.
        holes: the letters in it that are holes.
        mapping: the name of the variable that maps each letter to its code.
    """
    tree = ast.parse(pattern)
    letters = set(holes)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in letters:
            node.id = f"__hole_{node.id}__"
    text = ast.unparse(tree)
    if not letters:
        return string(text, 8)
    escaped = _quote(text).replace("{", "{{").replace("}", "}}")
    return "f" + _HOLE.sub(lambda match: f"{{{mapping}['{match.group(1)}']}}", escaped)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

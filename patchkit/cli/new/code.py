"""Write values as Python source."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator

_WIDTH = 96
_HOLE = re.compile(r"__hole_([A-Z])__")
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


def string(text: str, indent: int = 0) -> str:
    """Write a string literal; one too long for a line in several parts, inside brackets."""
    return _literal(text, indent, _quote)


def strings(values: Iterable[str]) -> str:
    """Write a tuple of string literals."""
    literals = [_quote(value) for value in values]
    return f"({', '.join(literals)}{',' if len(literals) == 1 else ''})"


def template(pattern: str, holes: Iterable[str], mapping: str) -> str:
    """Write a string literal, in column 8, of the code that a pattern stands for."""
    tree = ast.parse(pattern)
    letters = set(holes)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in letters:
            node.id = f"__hole_{node.id}__"
    text = ast.unparse(tree)
    if not letters:
        return string(text, 8)

    def quote(part: str) -> str:
        escaped = _quote(part).replace("{", "{{").replace("}", "}}")
        return "f" + _HOLE.sub(lambda match: f"{{{mapping}['{match.group(1)}']}}", escaped)

    return _literal(text, 8, quote)


def _literal(text: str, indent: int, quote: Callable[[str], str]) -> str:
    """Write a literal, in parts that end between words where it is too long for a line."""
    if len(quote(text)) + indent <= _WIDTH:
        return quote(text)
    inner = "".join(
        f"\n{' ' * (indent + 4)}{quote(part)}" for part in _parts(text, _WIDTH - indent - 4, quote)
    )
    return f"({inner}\n{' ' * indent})"


def _parts(text: str, width: int, quote: Callable[[str], str]) -> Iterator[str]:
    """Yield the parts of a text whose literals fit; only a word that does not fit is broken."""
    part = ""
    for token in _TOKEN.findall(text):
        pieces = [token] if len(quote(token)) <= width else list(token)
        for piece in pieces:
            if part and len(quote(part + piece)) > width:
                yield part
                part = ""
            part += piece
    yield part


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

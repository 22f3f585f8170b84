"""The texts that a tool looks for in the sources of functions, read off its wheel."""

from __future__ import annotations

import ast
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_READS_SOURCES = ("getsource", "getsourcelines")


@dataclass(frozen=True)
class LookedFor:
    """A text that a tool may look for in the source of a function.

    Args:
        file: the file of the tool.
        line: its line there.
        text: the text.
    """

    file: str
    line: int
    text: str


def looked_for(wheel: Path) -> Iterator[LookedFor]:
    """Yield the texts in the modules of a wheel that read sources of functions.

    A text may be an argument, or a value of a name or a table. So all texts of such a module count,
    but for docstrings, dotted names and parts of f-strings. Regular expressions are not tried.
    """
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if not name.endswith(".py"):
                continue
            text = archive.read(name).decode("utf-8", "replace")
            if any(word in text for word in _READS_SOURCES):
                yield from _in_module(name, text)


def _in_module(name: str, text: str) -> Iterator[LookedFor]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    ignored = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    ignored.update(
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
    )
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        if id(node) in ignored or not _is_code(node.value):
            continue
        yield LookedFor(name, node.lineno, node.value)


def _is_code(text: str) -> bool:
    """Tell whether a text is a piece of code that is not found just anywhere."""
    words = re.findall(r"[^\W\d]\w*", text)
    return len(words) > 1 and not re.fullmatch(r"[\w.]{,80}", text.strip())

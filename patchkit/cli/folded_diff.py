"""A diff for the reader of a terminal: what it means first, and no line wider than that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..text import wrap_lines

if TYPE_CHECKING:
    from ..catalogue.entries import Entry

_HELPER = re.compile(r"__import__\('([\w.]+)', fromlist=\('(\w+)',\)\)\.\2\b")
"""A function that an edit fetches, as `patchkit.rewrite.helper` writes it."""
_HEADERS = ("+++ ", "--- ", "@@ ")
_NARROWEST = 30


def folded(entry: Entry, text: str, width: int) -> Iterator[str]:
    """Yield the lines for one patch; `patch` cannot read them.

    Args:
        entry: the patch.
        text: its unified diff.
        width: columns of the terminal.
    """
    from ..catalogue.explanation import explain

    width = max(width, _NARROWEST)
    patch = explain(entry)
    yield from wrap_lines(f"{patch.id}: {patch.title}", "# ", "# ", width)
    for paragraph in filter(None, patch.fix.split("\n\n")):
        sentence = paragraph[:1].upper() + paragraph[1:]
        yield from wrap_lines(sentence, "#   ", "#   ", width)
    for module, name in dict.fromkeys(_HELPER.findall(text)):
        yield from wrap_lines(f"{name}() is `{module}.{name}`", "#   ", "#   ", width)
    for line in _HELPER.sub(r"\2", text).split("\n")[:-1]:
        yield from _folded_line(line, width)


def _folded_line(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    if line.startswith("#"):
        return wrap_lines(line[1:], "# ", "#   ", width)
    if line.startswith(_HEADERS):
        return [line]
    sign, code = line[:1], line[1:].lstrip()
    indent = " " * min(len(line) - len(code) - 1, width // 2)
    return wrap_lines(code, f"{sign}{indent}", f"{sign}{indent}    ", width)

"""Where the sources of cells stand in the JSON of a notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from json.decoder import scanstring  # type: ignore[attr-defined]

from .edits import TextEdit

_BLANK = re.compile(r"[ \t\r\n]*")
_ATOM = re.compile(r"[^\s,\]}]+")
_CHARACTER = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
_BREAKS = ("\\n", "\\u000a", "\\u000A")

_Path = tuple[str | int, ...]
_Place = tuple[_Path, int, int]


@dataclass(frozen=True)
class CellSource:
    """The source of a cell, as it stands in a file.

    Args:
        texts: the strings of its list, or the only one, each with its place.
    """

    start: int
    end: int
    texts: tuple[tuple[int, int, str], ...]

    @property
    def text(self) -> str:
        """The source of the cell."""
        return "".join(text for _, _, text in self.texts)


def sources(text: str) -> dict[int, CellSource]:
    """Return the sources of all cells, by the number of the cell from 0."""
    places: list[_Place] = []
    _scan(text, _skip(text, 0), (), places)
    found: dict[int, CellSource] = {}
    texts: dict[int, list[tuple[int, int, str]]] = {}
    for path, start, end in places:
        if len(path) in (3, 4) and path[0] == "cells" and path[2] == "source":
            cell = int(path[1])
            if text[start] == '"':
                string = scanstring(text, start + 1, False)[0]
                texts.setdefault(cell, []).append((start, end, string))
            if len(path) == 3:
                found[cell] = CellSource(start, end, tuple(texts.pop(cell, ())))
    return found


def rewritten(text: str, source: CellSource, today: str) -> TextEdit:
    """Return the edit that gives a cell another source; lines that stay keep their spelling."""
    old: list[tuple[str, str]] = []
    for start, end, _ in source.texts:
        old += _lines(text[start + 1 : end - 1])
    new = today.splitlines(keepends=True)
    ascii_only = text.isascii()
    written: list[str] = []
    matcher = SequenceMatcher(None, [line for line, _ in old], new, autojunk=False)
    for tag, first, last, begin, end in matcher.get_opcodes():
        if tag == "equal":
            written += [raw for _, raw in old[first:last]]
        else:
            written += [json.dumps(line, ensure_ascii=ascii_only)[1:-1] for line in new[begin:end]]
    if text[source.start] == '"':
        return TextEdit(source.start, source.end, f'"{"".join(written)}"')
    opening, between, closing = _layout(text, source)
    strings = between.join(f'"{line}"' for line in written)
    return TextEdit(source.start, source.end, f"[{opening}{strings}{closing}]")


def _layout(text: str, source: CellSource) -> tuple[str, str, str]:
    """Return what stands before, between and behind the strings of a list."""
    if not source.texts:
        return "", ", ", ""
    first, last = source.texts[0], source.texts[-1]
    opening = text[source.start + 1 : first[0]]
    closing = text[last[1] : source.end - 1]
    if len(source.texts) > 1:
        return opening, text[first[1] : source.texts[1][0]], closing
    return opening, f",{opening or ' '}", closing


def _lines(raw: str) -> Iterator[tuple[str, str]]:
    """Yield each line of a string as it is, and as JSON has it."""
    pieces: list[str] = []
    for match in _CHARACTER.finditer(raw):
        pieces.append(match[0])
        if match[0] in _BREAKS:
            yield _decoded(pieces)
            pieces = []
    if pieces:
        yield _decoded(pieces)


def _decoded(pieces: list[str]) -> tuple[str, str]:
    raw = "".join(pieces)
    return json.loads(f'"{raw}"', strict=False), raw


def _scan(text: str, start: int, path: _Path, found: list[_Place]) -> int:
    """Note the place of a value and of those within; return where it ends."""
    if text[start] == '"':
        end = scanstring(text, start + 1, False)[1]
    elif text[start] in "[{":
        end = _scan_inner(text, start, path, found)
    else:
        atom = _ATOM.match(text, start)
        assert atom is not None
        end = atom.end()
    found.append((path, start, end))
    return int(end)


def _scan_inner(text: str, start: int, path: _Path, found: list[_Place]) -> int:
    position, number = _skip(text, start + 1), 0
    while text[position] not in "]}":
        key: str | int = number
        if text[start] == "{":
            key, position = scanstring(text, position + 1, False)
            position = _skip(text, _skip(text, position) + 1)
        position = _skip(text, _scan(text, position, (*path, key), found))
        if text[position] == ",":
            position = _skip(text, position + 1)
        number += 1
    return position + 1


def _skip(text: str, position: int) -> int:
    blank = _BLANK.match(text, position)
    assert blank is not None
    return blank.end()

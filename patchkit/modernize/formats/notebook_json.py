"""Where the sources of cells stand in the JSON of a notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from .edits import TextEdit

_BLANK = re.compile(r"[ \t\r\n]*")
_CHARACTER = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
_BREAKS = ("\\n", "\\u000a", "\\u000A")


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
    found: dict[int, CellSource] = {}
    for key, cells, _ in _members(text, _skip(text, 0)):
        if key == "cells" and text[cells] == "[":
            for number, (_, cell, _) in enumerate(_members(text, cells)):
                for name, start, end in _members(text, cell) if text[cell] == "{" else ():
                    if name == "source":
                        found[number] = CellSource(start, end, tuple(_texts(text, start, end)))
    return found


def _texts(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield the strings of a source, each with its place."""
    if text[start] == '"':
        yield start, end, _DECODER.raw_decode(text, start)[0]
    elif text[start] == "[":
        for _, begin, behind in _members(text, start):
            if text[begin] == '"':
                yield begin, behind, _DECODER.raw_decode(text, begin)[0]


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


def _members(text: str, start: int) -> Iterator[tuple[object, int, int]]:
    """Yield the key or number of each value in a list or object, and where the value stands."""
    position, number = _skip(text, start + 1), 0
    while text[position] not in "]}":
        key: object = number
        if text[start] == "{":
            key, position = _DECODER.raw_decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        _, end = _DECODER.raw_decode(text, position)
        yield key, position, end
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
        number += 1


def _skip(text: str, position: int) -> int:
    blank = _BLANK.match(text, position)
    assert blank is not None
    return blank.end()

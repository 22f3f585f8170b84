"""Variables of a shell that hold the arguments of commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .words import Word, commands

_USE = re.compile(r"\$\{?(\w+)(?:\[[@*]\])?\}?")
_TEXT = re.compile(r"(\w+)\+?=(['\"])(.*)\2", re.DOTALL)
_ARRAY = re.compile(r"^[ \t]*(\w+)\+?=\(", re.MULTILINE)


def variables(text: str) -> dict[str, list[Word]]:
    """Return the words that variables hold, by name, with their places in the text."""
    found: dict[str, list[Word]] = {}
    for words in commands(text):
        for word in words:
            if held := _TEXT.fullmatch(word.raw):
                found.setdefault(held[1], []).extend(_words(word.start + held.start(3), held[3]))
    for array in _ARRAY.finditer(text):
        inside = text[array.end() :].partition(")")[0]
        found.setdefault(array[1], []).extend(_words(array.end(), inside))
    return found


def expanded(words: Sequence[Word], held: Mapping[str, Sequence[Word]]) -> list[Word]:
    """Return the words of a command with those of its variables in their places."""
    return [part for word in words for part in _held(word, held)]


def _held(word: Word, held: Mapping[str, Sequence[Word]]) -> Sequence[Word]:
    use = _USE.fullmatch(word.value)
    return held[use[1]] if use is not None and use[1] in held else [word]


def _words(start: int, inside: str) -> Iterator[Word]:
    for words in commands(inside):
        for word in words:
            yield replace(word, start=word.start + start, end=word.end + start)

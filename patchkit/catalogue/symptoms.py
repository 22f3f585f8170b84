"""Find the patches behind an error message."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .entries import Entry

QUOTES = re.compile("['\"`\u2018\u2019\u201c\u201d]")
SHORTEST = 12
"""Letters that a part of a message must have for the message to be found by it."""


def entries_with_message(text: str, entries: Iterable[Entry]) -> list[Entry]:
    """Return the patches whose bug puts this error on the screen; line breaks do not matter."""
    error = _normalize(text)
    return [
        entry
        for entry in entries
        if any(_is_same(error, _normalize(message)) for message in entry.patch.messages)
    ]


def entries_with_symptom(text: str, entries: Iterable[Entry]) -> list[Entry]:
    """Return the patches whose bug raises this error: by their messages, else by their symptoms."""
    entries = list(entries)
    line = " ".join(text.split())
    return entries_with_message(text, entries) or [
        entry
        for entry in entries
        if entry.patch.symptom and re.search(entry.patch.symptom, line, re.IGNORECASE)
    ]


def _is_same(error: str, message: str) -> bool:
    """Compare without blanks: terminals break lines within words, too."""
    whole, known = error.replace(" ", ""), message.replace(" ", "")
    return known in whole or (len(error) >= SHORTEST and whole in known)


def _normalize(text: str) -> str:
    """Drop case, line breaks and quotes; a shell takes quotes out of a pasted message."""
    return " ".join(QUOTES.sub("", text).split()).casefold()

"""Which patches know an error that somebody has on the screen."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .entries import Entry

_QUOTES = re.compile("['\"`\u2018\u2019\u201c\u201d]")
_SHORTEST = 12
"""Letters of a message that must be given for it to be found by a part of it."""


def with_symptom(text: str, entries: Iterable[Entry]) -> list[Entry]:
    """The patches whose bug shows as this text does: by their messages, else by their symptoms.

    Args:
        text: an error message, a part of one, or a whole traceback; line breaks do not matter.
        entries: the patches to choose from.
    """
    given = _plain(text)
    entries = list(entries)
    by_message = [
        one for one in entries if any(_is_same(given, _plain(it)) for it in one.patch.messages)
    ]
    one_line = " ".join(text.split())
    return by_message or [
        one
        for one in entries
        if one.patch.symptom and re.search(one.patch.symptom, one_line, re.IGNORECASE)
    ]


def _is_same(given: str, message: str) -> bool:
    return message in given or (len(given) >= _SHORTEST and given in message)


def _plain(text: str) -> str:
    """As texts are compared: a shell takes quotes out of a message that is pasted into it."""
    return " ".join(_QUOTES.sub("", text).split()).casefold()

"""What people describe without an error, read as words: `LoRA loss does not go down`.

A row's `words` are choices, one of each of which a description must have. They are compared with
small letters, numbers and single blanks, so a blank at an end of a choice is an end of a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MOST = 500
"""Letters that are read; a title comes first, and much text has any word."""
OTHER = re.compile(r"(?:[^a-z0-9_'.]|\.(?!\d)|'(?![a-z])|(?<![a-z])')+")
"""What stands between words: a point within a number and an apostrophe within a word do not."""


def plain_words(text: str) -> str:
    """Return the beginning of a description as words are compared."""
    return f" {OTHER.sub(' ', text[:MOST].lower()).strip()} "


def has_words(choices: Iterable[str], words: str) -> bool:
    """Tell whether a description has one of each of some choices, which bars separate."""
    return all(any(one in words for one in choice.split("|")) for choice in choices)

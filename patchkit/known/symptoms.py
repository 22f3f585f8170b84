"""What people describe without an error, read as words: `LoRA loss does not go down`.

A row's `words` are choices, one of each of which a description must have. They are compared with
small letters, numbers and single blanks, so a blank at an end of a choice is an end of a word. What
is said in many ways (`doesn't`, `fails to`, `does not seem to`) is brought to one way first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

MOST = 500
"""Letters that are read; a title comes first, and much text has any word."""
CHINESE = re.compile("[\u4e00-\u9fff]")
OTHER = re.compile(r"(?:[^a-z0-9_'.]|\.(?!\d)|'(?![a-z])|(?<![a-z])')+")
"""What stands between words: a point within a number and an apostrophe within a word do not."""


TITLE = re.compile(r"[^\n]{20,}?(?:[.!?](?=\s)|(?=\n)|$)")
"""The first sentence, in which people say what it is about; a shorter one is a greeting."""


def plain_words(
    text: str, alike: Mapping[str, Iterable[str]], chinese: Iterable[tuple[str, str]]
) -> str:
    """Return the beginning of a description as words are compared.

    Args:
        text: the description.
        alike: what stands for others, and these, in the order in which they are replaced.
        chinese: Chinese words and what they are in English, in the order in which they are read.
    """
    spelt = text[:MOST].lower().replace("!!!", " exclamation marks ")
    if CHINESE.search(spelt):
        for word, english in chinese:
            spelt = spelt.replace(word, f" {english} ")
    words = f" {OTHER.sub(' ', spelt).strip()} "
    for kept, others in alike.items():
        for other in others:
            words = words.replace(other, kept)
    return words


def title_of(text: str) -> str:
    """Return the first sentence of a description; all of it if it has none."""
    found = TITLE.match(text.lstrip())
    return found[0] if found else text


def has_words(choices: Iterable[str], words: str) -> bool:
    """Tell whether a description has one of each of some choices, which bars separate."""
    return all(any(one in words for one in choice.split("|")) for choice in choices)

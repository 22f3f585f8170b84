"""What words on a command line stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def value_of(word: str, names: Mapping[str, Any]) -> Any:
    """Return what a word stands for: what its name is for, a number, or the word.

    Args:
        word: as the shell gives it.
        names: words in lower case that stand for something else.
    """
    if word.lower() in names:
        return names[word.lower()]
    for number in (int, float):
        try:
            return number(word)
        except ValueError:
            pass
    return word

"""Names, sizes and paragraphs as messages write them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from enum import Enum

_SPACE = "\0"


class TextEnum(str, Enum):
    """One of a few words; its text is the word itself."""

    def __str__(self) -> str:
        return str(self.value)


def short_list(names: Iterable[str], shown: int = 3) -> str:
    """Return the first few names, and how many more there are."""
    names = list(names)
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")


def split_names(texts: Iterable[str]) -> list[str]:
    """Return the names in one or several comma-separated texts."""
    return [name.strip() for text in texts for name in text.split(",")]


def plural(number: int, noun: str) -> str:
    """Return a count with its noun: `1 module`, `2 modules`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def shorten(text: str, width: int) -> str:
    """Return a text on one line of at most this width; a longer one ends in `...` after a word."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    start = line[: max(width - 2, 1)]  # with the blank after the last word that fits
    words = start.rpartition(" ")[0] or start[:-1]
    return f"{words.rstrip(' ,;:')}..."


def wrap_lines(
    text: str, first: str, others: str, width: int, *, break_long_words: bool = True
) -> list[str]:
    """Break a text into lines between words; text in backticks stays whole, so it can be copied.

    Args:
        text: the text.
        first: begins the first line.
        others: begins the others.
        width: characters of a line.
        break_long_words: whether a word longer than a line is broken.
    """
    whole = re.sub("`[^`]*`", lambda quoted: quoted[0].replace(" ", _SPACE), text)
    lines = textwrap.wrap(
        whole,
        width,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=break_long_words,
        break_on_hyphens=False,
    )
    return [line.replace(_SPACE, " ") for line in lines]


def megabytes(size: float) -> str:
    """Return a number of bytes as `1.5 MiB`."""
    return f"{size / 2**20:.1f} MiB"

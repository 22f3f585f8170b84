"""Names and sizes as messages write them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

_SPACE = "\0"


def listed(names: Iterable[str], shown: int = 3) -> str:
    """The first few names, and how many more there are."""
    names = list(names)
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")


def separated(texts: Iterable[str]) -> list[str]:
    """Return the names that commas separate, of one text or several."""
    return [name.strip() for text in texts for name in text.split(",")]


def counted(number: int, noun: str) -> str:
    """`1 module`, `2 modules`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def cut(text: str, width: int) -> str:
    """A text in one line of so many characters; a longer one ends in `...` between two words."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    start = line[: max(width - 2, 1)]  # with the blank after the last word that fits
    words = start.rpartition(" ")[0] or start[:-1]
    return f"{words.rstrip(' ,;:')}..."


def folded(
    text: str, first: str, others: str, width: int, *, break_long_words: bool = True
) -> list[str]:
    """Return a text as lines, folded between words.

    What stands in backticks is one word, so that it can be copied and found.

    Args:
        text: it.
        first: begins the first line.
        others: begins the others.
        width: characters of a line.
        break_long_words: whether a word is broken that is longer than a line.
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
    """A number of bytes, as `1.5 MiB`."""
    return f"{size / 2**20:.1f} MiB"

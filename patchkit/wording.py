"""Names and sizes as messages write them."""

from __future__ import annotations

from collections.abc import Iterable


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


def megabytes(size: float) -> str:
    """A number of bytes, as `1.5 MiB`."""
    return f"{size / 2**20:.1f} MiB"

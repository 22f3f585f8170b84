"""Where a message is raised that was pasted without a traceback: what the libraries' files say.

`raised.json` has, for each file, digests of the longest literal part of each message in it, so that
a message is found whatever stands in its holes. `python -m workbench messages --write` writes it.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path

from .wordings import squeezed

TABLE = Path(__file__).with_name("raised.json")
LETTERS = 24
"""Without blanks, that a part of a message must have to be known again."""
READ = 400
"""Letters of a message that are looked through."""


def digest(part: str) -> str:
    """Return what stands in the table for a part of a message, of which the beginning counts.

    It is FNV-1a of 32 bits over the characters, which the page "My error" works out alike.
    """
    value = 0x811C9DC5
    for letter in part[:LETTERS]:
        value = (value ^ ord(letter)) * 0x01000193 & 0xFFFFFFFF
    return f"{value:08x}"


@cache
def _files() -> dict[str, str]:
    table: dict[str, str] = json.loads(TABLE.read_text(encoding="utf-8"))
    return {part: file for file, parts in table.items() for part in parts.split()}


@lru_cache(maxsize=8)
def raised_in(message: str) -> str:
    """Return the file below a library that raises a message; an empty text if none is known.

    Args:
        message: as it was pasted.
    """
    letters = squeezed(message)[:READ]
    parts = (letters[start : start + LETTERS] for start in range(len(letters) - LETTERS + 1))
    return next(filter(None, (_files().get(digest(part)) for part in parts)), "")

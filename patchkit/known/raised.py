"""Where a message is raised that was pasted without a traceback: what the libraries' files say.

`raised.json` has, for each file, digests of the longest literal part of each message in it, so that
a message is found whatever stands in its holes. Its objects are folders, its texts the digests of a
file, one after the other. `python -m workbench messages --write` writes it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from .wordings import squeezed

TABLE = Path(__file__).with_name("raised.json")
LETTERS = 24
"""Without blanks, that a part of a message must have to be known again."""
READ = 400
"""Letters of a message that are looked through."""
DIGEST = 5
"""Letters of a digest."""


def digest(part: str) -> str:
    """Return what stands in the table for a part of a message, of which the beginning counts.

    It is FNV-1a of 32 bits over the characters, which the page "My error" works out alike.
    """
    value = 0x811C9DC5
    for letter in part[:LETTERS]:
        value = (value ^ ord(letter)) * 0x01000193 & 0xFFFFFFFF
    return base64.b85encode(value.to_bytes(4, "big")).decode()


def digests(message: str) -> Iterator[str]:
    """Yield the digests of all parts of a message, without blanks, that are long enough."""
    starts = range(len(message) - LETTERS + 1)
    return (digest(message[start : start + LETTERS]) for start in starts)


def files_by_digest(table: Mapping[str, Any]) -> dict[str, str]:
    """Return the file of each digest in a table."""
    return {
        said[start : start + DIGEST]: file
        for file, said in _files(table)
        for start in range(0, len(said), DIGEST)
    }


def as_table(files: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the table that has some digests, each with its file."""
    table: dict[str, Any] = {}
    for part, file in files:
        *folders, name = file.removesuffix(".py").split("/")
        below = table
        for folder in folders:
            below = below.setdefault(f"{folder}/", {})
        below[name] = below.get(name, "") + part
    return table


def _files(table: Mapping[str, Any], folder: str = "") -> Iterator[tuple[str, str]]:
    for name, below in table.items():
        if isinstance(below, str):
            yield f"{folder}{name}.py", below
        else:
            yield from _files(below, f"{folder}{name}")


@cache
def _known() -> dict[str, str]:
    return files_by_digest(json.loads(TABLE.read_text(encoding="utf-8")))


@lru_cache(maxsize=8)
def raised_in(message: str) -> str:
    """Return the file below a library that raises a message; an empty text if none is known.

    Args:
        message: as it was pasted.
    """
    parts = digests(squeezed(message)[:READ])
    return next(filter(None, map(_known().get, parts)), "")

"""Read from Python's own bytecode files what a module compiles to."""

from __future__ import annotations

import importlib.util
import linecache
import marshal
import os
from types import CodeType

_HEADER = 16
_TOO_CLOSE_NS = 2_000_000_000
"""A recorded time has seconds: a file that was changed within the same one looks unchanged."""


def module_code(filename: str) -> CodeType | None:
    """Return the code of a module whose lines `linecache` holds, from its bytecode file.

    The bytecode file is trusted if it records the size and modification time of the very file that
    the lines were read from, and was written well after that time. Python trusts it on the same
    grounds.

    Returns:
        None if there is no such file, or it is not trusted: then only compiling the text tells.
    """
    entry = linecache.cache.get(filename)
    if entry is None or len(entry) != 4:
        return None
    size, mtime, _, path = entry
    if mtime is None:
        return None
    try:
        source = os.stat(path)
        with open(importlib.util.cache_from_source(path), "rb") as file:
            written = os.fstat(file.fileno()).st_mtime_ns
            content = file.read()
    except (OSError, NotImplementedError):  # no such file, or an implementation without any
        return None
    # The file is looked at after its lines were read, so all belong to the same state of it.
    if (source.st_size, source.st_mtime) != (size, mtime):
        return None
    if content[:_HEADER] != _header(size, mtime) or written - source.st_mtime_ns < _TOO_CLOSE_NS:
        return None
    try:
        code = marshal.loads(content[_HEADER:])
    except (EOFError, ValueError, TypeError):
        return None
    return code if isinstance(code, CodeType) else None


def _header(size: int, mtime: float) -> bytes:
    """Return the beginning of a bytecode file that is valid for a source of that size and time."""
    numbers = (0, int(mtime), size)
    return importlib.util.MAGIC_NUMBER + b"".join(
        (number & 0xFFFFFFFF).to_bytes(4, "little") for number in numbers
    )

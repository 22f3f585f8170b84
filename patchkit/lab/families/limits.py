"""Limit the memory of this process."""

from __future__ import annotations

from pathlib import Path

_MESSAGES = ("can't allocate memory", "Cannot allocate memory")
_STATM = Path("/proc/self/statm")
GIB = 2**30


def limit_memory(gibibytes: float) -> None:
    """Let this process take so much more address space than it has; nothing happens off Linux."""
    if not gibibytes or not _STATM.exists():
        return
    import resource

    pages = int(_STATM.read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + int(gibibytes * GIB)
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit if most < 0 else min(limit, most), most))


def is_lack_of_memory(error: BaseException) -> bool:
    """Tell whether an error says that memory could not be had."""
    return isinstance(error, MemoryError) or any(text in str(error) for text in _MESSAGES)

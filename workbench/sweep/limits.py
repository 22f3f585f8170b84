"""Limit the memory of this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_MESSAGES = ("can't allocate memory", "Cannot allocate memory", "std::bad_alloc")
_DOUBTFUL = "could not create a primitive"
"""What oneDNN says of a kernel that finds no memory, and of one that this CPU does not have."""
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


def lack_of(gibibytes: float) -> str:
    """Say that something needs more memory than a limit."""
    return f"needs more than {gibibytes:g} GiB"


def may_be_lack_of_memory(answer: Mapping[str, Any]) -> bool:
    """Tell whether the failure of a fork under a limit may be due to the limit alone.

    Native code that finds no memory may end the process, or say something else.

    Args:
        answer: what the fork returned, or that it died.
    """
    died = "outcome" in answer and str(answer["message"]).startswith("died ")
    return died or _DOUBTFUL in str(answer.get("error", ""))

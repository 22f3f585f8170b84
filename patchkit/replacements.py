"""What the libraries dropped, written again: scripts import it from here by its name.

    from patchkit.replacements import DataCollatorForCompletionOnlyLM

`patchkit modernize` writes such imports. Nothing here needs `apply()`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from .legacy.changes import Moved
from .legacy.places import OF_OURS
from .legacy.rows import rows_of_names

_BESIDE = ("configuration.configured", "truncation.truncating")
"""What the libraries had as arguments."""


@cache
def _places() -> dict[str, str]:
    moved = (row.to for row in rows_of_names() if isinstance(row, Moved))
    ours = [place for place in moved if place.startswith(OF_OURS)]
    return {
        place.rpartition(".")[2]: place for place in (*ours, *(OF_OURS + name for name in _BESIDE))
    }


def __getattr__(name: str) -> Any:
    place = _places().get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(place.rpartition(".")[0]), name)


def __dir__() -> list[str]:
    return sorted(_places())

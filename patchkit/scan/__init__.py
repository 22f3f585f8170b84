"""The static scan: what became of each patch in each release, read off released sources.

A preview asks two modules of this package, and does without pip and wheels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import ScanError

if TYPE_CHECKING:
    from .run import Scanned, scan

__all__ = ["ScanError", "Scanned", "scan"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import run

    return getattr(run, name)

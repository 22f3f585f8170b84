"""Scan the sources of releases for the state of each patch, without running anything of them.

A preview uses two modules of this package, and needs neither pip nor wheels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..records import ScanError

if TYPE_CHECKING:
    from .run import ScanResult, scan

__all__ = ["ScanError", "ScanResult", "scan"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import run

    return getattr(run, name)

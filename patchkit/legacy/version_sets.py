"""Sets of versions that work together, for scripts that need what is gone."""

from __future__ import annotations

from .changes import Change


def advice(change: Change) -> str:
    """Say in a sentence which versions still have what went with a change."""
    return ""

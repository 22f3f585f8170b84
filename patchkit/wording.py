"""Names and sizes as messages write them."""

from __future__ import annotations

from collections.abc import Iterable


def listed(names: Iterable[str], shown: int = 3) -> str:
    """The first few names, and how many more there are."""
    names = list(names)
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")


def megabytes(size: float) -> str:
    """A number of bytes, as `1.5 MiB`."""
    return f"{size / 2**20:.1f} MiB"

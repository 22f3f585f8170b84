"""A made-up matrix with something of everything, and how it is shown."""

from __future__ import annotations

from ...madeup_matrix import matrix, patches, ran, read, shown

__all__ = ["matrix", "patches", "ran", "read", "shown"]

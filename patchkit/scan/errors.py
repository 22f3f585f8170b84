"""What can go wrong while releases are fetched and read."""

from __future__ import annotations

from ..errors import PatchError


class ScanError(PatchError):
    """A release, or all releases of a library, cannot be had or read."""

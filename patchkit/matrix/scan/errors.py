"""Define the error of a release that cannot be fetched or read."""

from __future__ import annotations

from ...errors import PatchError


class ScanError(PatchError):
    """A release, or all releases of a library, cannot be fetched or read."""

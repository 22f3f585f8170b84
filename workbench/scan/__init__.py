"""Look for each patch in the sources of released wheels, without running anything of them."""

from __future__ import annotations

from patchkit.errors import PatchError


class ScanError(PatchError):
    """A release, or all releases of a library, cannot be fetched or read."""

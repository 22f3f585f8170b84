"""What is said of a patch on a version older than any on which it was measured."""

from __future__ import annotations

from ..catalogue.resolution import Resolution
from ..matrix import oldest_measured
from ..patch import Patch


def reason_untested(patch: Patch, resolution: Resolution) -> str:
    """Return why nobody knows whether the bug is there; empty if that is known.

    Args:
        patch: the patch.
        resolution: how its ranges compare with the installed versions.
    """
    name, version = resolution.older
    oldest = oldest_measured(patch, name, version) if name else None
    if oldest is None:
        return ""
    return (
        f"{name} {version} is older than any measured release, {oldest} and later; whether it has "
        "this bug is not known"
    )


def reason_not_due(patch: Patch, resolution: Resolution) -> str:
    """Return why a patch is not due, without claiming more than was measured."""
    return reason_untested(patch, resolution) or resolution.reason

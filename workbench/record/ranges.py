"""Compute the ranges of versions that the measurements support."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from patchkit.environment import in_range
from patchkit.matrix.evidence import Sighting, sightings
from patchkit.matrix.records import Matrix
from patchkit.patch import Patch

if TYPE_CHECKING:
    from packaging.version import Version


def measured_ranges(patch: Patch, matrix: Matrix) -> dict[str, str]:
    """Return the measured range of each library, beside the other versions that a patch claims.

    Returns:
        distribution to range; an empty range if no measured release is affected.
    """
    found = sightings(patch, matrix)
    return {
        library: range_of(states_of_releases(patch, found, library)) for library in patch.affects
    }


def range_of(states: Mapping[Version, bool]) -> str:
    """Return the range from the first affected release to the last, without those that are not.

    It is open at the top if the newest release is affected; otherwise it ends below the first one
    after it.

    Args:
        states: measured release to whether it is affected.
    """
    affected = sorted(version for version, is_affected in states.items() if is_affected)
    if not affected:
        return ""
    others = sorted(version for version, is_affected in states.items() if not is_affected)
    between = [version for version in others if affected[0] < version < affected[-1]]
    after = [version for version in others if version > affected[-1]]
    ends = [f">={_short(affected[0])}", *(f"!={_short(version)}" for version in between)]
    return ",".join([*ends, *(f"<{_short(version)}" for version in after[:1])])


def _short(version: Version) -> str:
    """Shorten 1.15.0 to 1.15; a pre-release counts as its release."""
    short = version.base_version
    while short.endswith(".0"):
        short = short.removesuffix(".0")
    return short


def is_claimed(patch: Patch, versions: Mapping[str, str]) -> bool:
    """Tell whether all these versions lie in the ranges of a patch."""
    return all(in_range(version, patch.affects[name]) for name, version in versions.items())


def states_of_releases(patch: Patch, found: list[Sighting], library: str) -> dict[Version, bool]:
    """Map each measured release of a library, in order, to whether it is affected.

    Only measurements beside the other versions that the patch claims count, and runs before scans.
    """
    from packaging.version import Version

    states: dict[Version, bool] = {}
    ran: set[Version] = set()
    for sighting in sorted(found, key=lambda sighting: not sighting.is_scan):
        versions = dict(sighting.versions)
        release = versions.pop(library, None)
        if release is None or not is_claimed(patch, versions):
            continue
        version = Version(release)
        states[version] = sighting.shows or (version in ran and states[version])
        if not sighting.is_scan:
            ran.add(version)
    return dict(sorted(states.items()))

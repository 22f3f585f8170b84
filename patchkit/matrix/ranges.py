"""The ranges of versions that measurements back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..patch import Patch
from .evidence import sightings, states_of_releases
from .records import Matrix

if TYPE_CHECKING:
    from packaging.version import Version


def derived(patch: Patch, matrix: Matrix) -> dict[str, str]:
    """The range that was measured of each library of a patch, the others being as it claims.

    Returns:
        distribution to range; empty where no release looked at is affected.
    """
    found = sightings(patch, matrix)
    return {
        library: range_of(states_of_releases(patch, found, library)) for library in patch.affects
    }


def range_of(states: Mapping[Version, bool]) -> str:
    """The range from the first affected release to the last, less those between that are not.

    It is open at the top where the newest release looked at is affected, and ends below the next
    one looked at where it is not.

    Args:
        states: release to whether it is affected.
    """
    affected = sorted(version for version, shows in states.items() if shows)
    if not affected:
        return ""
    others = sorted(version for version, shows in states.items() if not shows)
    between = [version for version in others if affected[0] < version < affected[-1]]
    after = [version for version in others if version > affected[-1]]
    ends = [f">={_short(affected[0])}", *(f"!={_short(version)}" for version in between)]
    return ",".join([*ends, *(f"<{_short(version)}" for version in after[:1])])


def _short(version: Version) -> str:
    """As ranges write it: 1.15.0 as 1.15; a pre-release counts as its release."""
    short = version.base_version
    while short.endswith(".0"):
        short = short.removesuffix(".0")
    return short

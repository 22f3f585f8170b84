"""Look a patch up in the matrix that came with this installation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from ..catalogue.resolution import Resolution
from ..environment import in_range, installed_version
from ..patch import Patch
from ..text import short_list
from .file import default_path, read
from .records import LIBRARIES, Matrix, MatrixError, Result, public_version

_OTHERS_SHOWN = 3


@dataclass(frozen=True)
class Tested:
    """The measurements of a patch that come nearest to the installed versions.

    Args:
        level: `combination` if exactly these versions of all libraries were measured together,
            `version` if this version of the patched library was, beside other versions,
            `scanned` if only the sources of this version were read, `none`, or `unknown`
            if the matrix cannot be read.
        outcomes: the outcomes, or the state of the scan.
        detail: the same in a few words.
    """

    level: str
    outcomes: tuple[str, ...]
    detail: str

    def __str__(self) -> str:
        return self.detail

    def to_dict(self) -> dict[str, object]:
        return {"level": self.level, "outcomes": list(self.outcomes), "detail": self.detail}


@cache
def _shipped() -> Matrix | MatrixError:
    try:
        return read(default_path())
    except MatrixError as error:
        return error


def shipped() -> Matrix:
    """Return the matrix of this installation.

    Raises:
        MatrixError: it cannot be read.
    """
    matrix = _shipped()
    if isinstance(matrix, MatrixError):
        raise matrix
    return matrix


def measured_versions(library: str) -> list[str]:
    """Return the versions of a library beside which reproducers were run, the oldest first.

    The list is empty if the matrix cannot be read.
    """
    from packaging.version import Version

    try:
        results = shipped().results
    except MatrixError:
        return []
    versions = {result.environment.versions.get(library) for result in results}
    return sorted({public_version(version) for version in versions if version}, key=Version)


def outcomes(patch_id: str, versions: Mapping[str, str]) -> set[str]:
    """Return the outcomes of a patch on exactly these versions of these distributions."""
    try:
        return {result.outcome for result in _results(patch_id) if _has(result, versions)}
    except MatrixError:
        return set()


def installed_versions(others: Iterable[str] = ()) -> dict[str, str]:
    """Return the installed versions of the libraries that a measurement records, and of others."""
    versions = {name: installed_version(name) for name in dict.fromkeys([*LIBRARIES, *others])}
    return {name: version for name, version in versions.items() if version}


def look_up(patch_id: str, library: str, installed: Mapping[str, str]) -> Tested:
    """Return the measurements of a patch on these versions, or the nearest to them."""
    version = installed.get(library)
    try:
        results = _results(patch_id)
        scans = {scan.version: scan for scan in shipped().scans if scan.library == library}
    except MatrixError as error:
        return Tested("unknown", (), f"unknown: {error}")
    if version is None:
        return Tested("none", (), "not measured")
    here = f"{library} {version}"
    same_version = [result for result in results if _has(result, {library: version})]
    others = [_others(result, installed, {*LIBRARIES, library}) for result in same_version]
    pairs = zip(same_version, others, strict=True)
    if exact := [result for result, differing in pairs if not differing]:
        found = _sorted_outcomes(exact)
        detail = f"measured on exactly these versions: {', '.join(found)}"
        return Tested("combination", found, detail)
    if same_version:
        found = _sorted_outcomes(same_version)
        nearest = min(others, key=len)
        beside = short_list(nearest, _OTHERS_SHOWN)
        detail = f"measured on {here}, beside other versions ({beside}): {', '.join(found)}"
        return Tested("version", found, detail)
    scan = scans.get(version)
    if scan is not None and patch_id in scan.states:
        state = scan.states[patch_id]
        return Tested("scanned", (state,), f"not run on {here}; its sources were read: {state}")
    measured = [result.environment.versions.get(library, "0") for result in results]
    newest = _newest_below(version, measured)
    note = f"; the newest measured is {newest}" if newest else ""
    return Tested("none", (), f"not measured on {here}{note}")


def oldest_measured(patch: Patch, library: str, version: str) -> str | None:
    """Return the oldest version of a claimed library on which a patch was measured.

    Returns:
        None if this version is not older, nothing was measured, or the matrix cannot be read.
    """
    from packaging.version import Version

    from .evidence import sightings

    try:
        found = sightings(patch, shipped())
    except MatrixError:
        return None
    measured = {
        Version(sighting.versions[library]) for sighting in found if library in sighting.versions
    }
    oldest = min(measured, default=None)
    return str(oldest) if oldest and not in_range(version, f">={oldest}") else None


def reason_untested(patch: Patch, resolution: Resolution) -> str:
    """Return why it is unknown whether the bug is there; empty if it is known."""
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


def _results(patch_id: str) -> list[Result]:
    return [result for result in shipped().results if result.patch == patch_id]


def _has(result: Result, versions: Mapping[str, str]) -> bool:
    return versions.items() <= result.environment.versions.items()


def _others(result: Result, installed: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """Return the versions of a measurement that are not those installed."""
    measured = result.environment.versions
    return [
        f"{name} {public_version(measured[name])}" if name in measured else f"no {name}"
        for name in sorted(names)
        if public_version(installed.get(name, "")) != public_version(measured.get(name, ""))
    ]


def _sorted_outcomes(results: list[Result]) -> tuple[str, ...]:
    return tuple(sorted({result.outcome for result in results}))


def _newest_below(version: str, measured: list[str]) -> str | None:
    """Return the newest measured version, if this one is newer still."""
    from packaging.version import InvalidVersion, Version

    try:
        newest = max(measured, key=Version, default=None)
        return newest if newest and Version(version) > Version(newest) else None
    except InvalidVersion:
        return None

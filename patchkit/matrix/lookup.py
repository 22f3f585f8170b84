"""What the matrix that came with this installation says of a patch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from ..environment import installed_version
from .file import default_path, read
from .records import LIBRARIES, Matrix, MatrixError, Result, public


@dataclass(frozen=True)
class Tested:
    """What was measured of a patch on what is installed.

    Args:
        level: `combination` where these very versions of all libraries were measured together,
            `version` where this version of the patched library was, beside other versions,
            `scanned` where only the sources of this version were read, `none`, or `unknown`
            where the matrix cannot be read.
        outcomes: what came of it: outcomes, or the state of the scan.
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
    """The matrix of this installation.

    Raises:
        MatrixError: it cannot be read.
    """
    found = _shipped()
    if isinstance(found, MatrixError):
        raise found
    return found


def outcomes(patch_id: str, versions: Mapping[str, str]) -> set[str]:
    """What was measured of a patch where these distributions had exactly these versions."""
    try:
        return {one.outcome for one in _results(patch_id) if _has(one, versions)}
    except MatrixError:
        return set()


def installed(others: Iterable[str] = ()) -> dict[str, str]:
    """Return the installed versions of what a measurement may depend on.

    Args:
        others: distributions that patches mend, beside those that every measurement names.
    """
    versions = {name: installed_version(name) for name in dict.fromkeys([*LIBRARIES, *others])}
    return {name: version for name, version in versions.items() if version}


def tested(patch_id: str, library: str, installed: Mapping[str, str]) -> Tested:
    """What was measured of a patch, on these versions or near them.

    Args:
        patch_id: the patch.
        library: the distribution that it mends.
        installed: distribution to version, of all that is installed and could be measured.
    """
    version = installed.get(library)
    try:
        results = _results(patch_id)
        scans = {one.version: one for one in shipped().scans if one.library == library}
    except MatrixError as error:
        return Tested("unknown", (), f"unknown: {error}")
    if version is None:
        return Tested("none", (), "not measured")
    here = f"{library} {version}"
    same_version = [one for one in results if _has(one, {library: version})]
    names = {*LIBRARIES, library}
    same_combination = [one for one in same_version if _is_combination(one, installed, names)]
    if same_combination:
        found = _sorted_outcomes(same_combination)
        return Tested("combination", found, f"this very combination measured: {', '.join(found)}")
    if same_version:
        found = _sorted_outcomes(same_version)
        detail = f"{here} measured, beside other versions: {', '.join(found)}"
        return Tested("version", found, detail)
    scan = scans.get(version)
    if scan is not None and patch_id in scan.states:
        state = scan.states[patch_id]
        return Tested("scanned", (state,), f"{here} not measured; its sources were read: {state}")
    known = [one.environment.versions.get(library, "0") for one in results]
    newer = _newer_than_any(version, known)
    note = f", which is newer than any measured ({newer})" if newer else ""
    return Tested("none", (), f"not measured on {here}{note}")


def _results(patch_id: str) -> list[Result]:
    return [one for one in shipped().results if one.patch == patch_id]


def _has(one: Result, versions: Mapping[str, str]) -> bool:
    return versions.items() <= one.environment.versions.items()


def _is_combination(one: Result, installed: Mapping[str, str], names: set[str]) -> bool:
    measured = one.environment.versions
    return all(public(installed.get(name, "")) == public(measured.get(name, "")) for name in names)


def _sorted_outcomes(results: list[Result]) -> tuple[str, ...]:
    return tuple(sorted({one.outcome for one in results}))


def _newer_than_any(version: str, known: list[str]) -> str | None:
    """The newest version known, if this one is newer still."""
    from packaging.version import InvalidVersion, Version

    try:
        newest = max(known, key=Version, default=None)
        return newest if newest and Version(version) > Version(newest) else None
    except InvalidVersion:
        return None

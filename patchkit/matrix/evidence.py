"""What the matrix says about where the bug of one patch is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..environment import in_range
from ..patch import Patch, Rewrite
from .outcome_table import SCAN_TABLE, SHOWS_NO_BUG, SHOWS_THE_BUG
from .records import Matrix

if TYPE_CHECKING:
    from packaging.version import Version


@dataclass(frozen=True)
class Sighting:
    """One measurement that tells whether the bug is there.

    Args:
        versions: of the libraries that the patch claims; of the first only, where its sources
            were read.
        shows: whether the bug showed, or its code stands there.
        said: the outcome or the state.
        device: that it was run on; empty where sources were read.
    """

    versions: Mapping[str, str]
    shows: bool
    said: str
    device: str = ""

    @property
    def scanned(self) -> bool:
        return not self.device

    def __str__(self) -> str:
        return " with ".join(f"{name} {version}" for name, version in self.versions.items())


def shows_the_bug(patch: Patch, outcome: str) -> bool | None:
    """What an outcome says about the bug; None where it cannot tell.

    A patch that is no mend has no bug: what counts is whether it did there what it is for.
    """
    if patch.opt_in and outcome in SHOWS_THE_BUG:
        return {"mended": True, "not-mended": False}.get(outcome)
    return True if outcome in SHOWS_THE_BUG else False if outcome in SHOWS_NO_BUG else None


def sightings(patch: Patch, matrix: Matrix) -> list[Sighting]:
    """All that tells where the bug of a patch is.

    Sources tell it of a patch that rewrites; one that only wraps has nothing to look for in them.
    """
    ran = list(_runs(patch, matrix))
    shown = {(str(one), one.device) for one in ran if one.shows}
    # A range is about versions: a bug that shows on one device is there, whatever another says.
    ran = [one for one in ran if one.shows or not _shown_elsewhere(one, shown)]
    return [*ran, *(_scans(patch, matrix) if _rewrites(patch) else ())]


def claims(patch: Patch, versions: Mapping[str, str]) -> bool:
    """Whether all these versions lie in the ranges of a patch."""
    return all(in_range(version, patch.affects[name]) for name, version in versions.items())


def states_of_releases(patch: Patch, found: list[Sighting], library: str) -> dict[Version, bool]:
    """For each release of a library that was looked at, in their order: is it affected?

    Only where all other libraries are as the patch claims. What ran goes before what was read.
    """
    from packaging.version import Version

    states: dict[Version, bool] = {}
    for one in [*_beside(patch, found, library, scanned=True)]:
        states[Version(one.versions[library])] = one.shows
    ran: dict[Version, bool] = {}
    for one in _beside(patch, found, library, scanned=False):
        number = Version(one.versions[library])
        ran[number] = ran.get(number, False) or one.shows
    return dict(sorted({**states, **ran}.items()))


def _beside(
    patch: Patch, found: list[Sighting], library: str, *, scanned: bool
) -> Iterator[Sighting]:
    for one in found:
        others = {name: version for name, version in one.versions.items() if name != library}
        if library in one.versions and one.scanned is scanned and claims(patch, others):
            yield one


def _runs(patch: Patch, matrix: Matrix) -> Iterator[Sighting]:
    for one in matrix.results:
        installed = one.environment.versions
        shows = shows_the_bug(patch, one.outcome)
        if one.patch == patch.id and shows is not None and set(patch.affects) <= set(installed):
            versions = {name: installed[name] for name in patch.affects}
            yield Sighting(versions, shows, one.outcome, one.environment.device)


def _scans(patch: Patch, matrix: Matrix) -> Iterator[Sighting]:
    # Where a patch that is no mend finds its place, nobody tried whether it works there.
    unclear = "present" if patch.opt_in else ""
    tells = {
        state.name: state.shows_bug
        for state in SCAN_TABLE
        if state.shows_bug is not None and state.name != unclear
    }
    for one in matrix.scans:
        state = one.states.get(patch.id, "")
        if one.library == patch.library and state in tells:
            yield Sighting({one.library: one.version}, tells[state], state)


def _shown_elsewhere(one: Sighting, shown: set[tuple[str, str]]) -> bool:
    return any(where == str(one) and device != one.device for where, device in shown)


def _rewrites(patch: Patch) -> bool:
    return any(isinstance(change, Rewrite) for change in patch.changes)

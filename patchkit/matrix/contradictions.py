"""Where the claims of a patch differ from what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ..environment import in_range
from ..patch import Patch
from ..text import short_list
from .evidence import Sighting, claims, sightings, states_of_releases
from .ranges import derived
from .records import Matrix

if TYPE_CHECKING:
    from packaging.version import Version

_FAR_AHEAD = "99999"
"""A release that nobody has measured yet."""


def contradictions(patch: Patch, matrix: Matrix) -> list[str]:
    """Where a patch claims more or less than was measured.

    Each release that was looked at must be claimed if, and only if, the bug is there; and each
    release that a range names must have been looked at. A patch that only wraps has nothing to
    look for in sources: there, looking at means running its reproducer.

    Returns:
        sentences: what is claimed, what was measured where, and what to change.
    """
    found = sightings(patch, matrix)
    claim = f"{patch.id} claims {_written(patch.affects)}"
    if not found:
        return [f"{claim}, and nothing was measured of it: scan its releases or record a run"]
    advice = _advice(patch, matrix, found)
    of_ends = (
        problem for library in patch.affects for problem in _of_ends(patch, matrix, found, library)
    )
    by_range = [*_of_releases(patch, found), *of_ends]
    by_target = _of_targets(patch, matrix)
    return [f"{claim}, but {one}: {advice}" for one in by_range] + [
        f"{claim}, but {one}" for one in by_target
    ]


def _of_releases(patch: Patch, found: list[Sighting]) -> Iterator[str]:
    claimed = [one for one in found if claims(patch, one.versions)]
    others = [one for one in found if not claims(patch, one.versions)]
    if showing := [one for one in others if one.shows and not one.scanned]:
        yield f"it showed on {_on(showing)} too"
    if standing := [one for one in others if one.shows and one.scanned]:
        yield f"its code stands in {_on(standing)} too, and is not known to be harmless there"
    shown = {str(one) for one in claimed if one.shows and not one.scanned}
    hidden = [one for one in claimed if not one.shows and not one.scanned]
    if nowhere := [one for one in hidden if str(one) not in shown]:
        yield f"it did not show on {_on(nowhere)}"
    if partly := [one for one in hidden if str(one) in shown]:
        yield (
            f"on {_on(partly)} it showed beside some versions of other libraries only, which "
            "`affects` does not name"
        )
    first = {one.versions[patch.library] for one in claimed if one.shows and not one.scanned}
    gone = [one for one in claimed if not one.shows and one.scanned]
    if gone := [one for one in gone if one.versions[patch.library] not in first]:
        yield f"its code does no harm or is absent in {_on(gone)}"


def _of_ends(patch: Patch, matrix: Matrix, found: list[Sighting], library: str) -> Iterator[str]:
    from packaging.version import Version

    states = states_of_releases(patch, found, library)
    claim = patch.affects[library]
    if not states:
        yield f"no {library} was looked at with what else it claims"
        return
    newest = max(states)
    looked_at = {Version(one.base_version) for one in states}
    is_open = in_range(_FAR_AHEAD, claim)
    closed_early = states[newest] and not is_open and in_range(str(newest), claim)
    if in_range("0", claim):
        yield f"{library} {min(states)} is the oldest that was looked at"
    if closed_early:
        yield f"the newest {library} that was looked at, {newest}, is affected"
    for operator, version in _named(claim):
        is_end = closed_early and operator in ("<", "<=")
        if version not in looked_at and not is_end:
            beside = " with what else it claims" if len(patch.affects) > 1 else ""
            reason = _why_not(patch, matrix, library, version)
            yield f"nothing that was measured tells of {library} {version}{beside}{reason}"


def _named(claim: str) -> list[tuple[str, Version]]:
    """The versions that a range names, each with its operator."""
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    parts = [(one.operator, one.version.removesuffix(".*")) for one in SpecifierSet(claim)]
    return sorted((operator, Version(version)) for operator, version in parts)


def _why_not(patch: Patch, matrix: Matrix, library: str, version: Version) -> str:
    """What was tried on a release, in brackets; empty where it was not tried."""
    from packaging.version import Version

    outcomes = {
        one.outcome
        for one in matrix.results
        if one.patch == patch.id
        and Version(one.environment.versions.get(library, _FAR_AHEAD)) == version
    }
    problems = {
        one.problem
        for one in matrix.scans
        if one.problem and one.library == library and Version(one.version) == version
    }
    tried = sorted(outcomes) + sorted(problems)
    return f" ({'; '.join(tried)})" if tried else ""


def _of_targets(patch: Patch, matrix: Matrix) -> Iterator[str]:
    """What scans say of single targets on releases that the patch as a whole claims."""
    if drifted := _scanned(patch, matrix, "drifted"):
        yield f"it drifted on {_on(drifted)}: mend its targets or their own ranges"
    if present := _scanned(patch, matrix, "present"):
        yield (
            f"a target that is not due has its code on {_on(present)}: widen the target's own "
            "range, or scan again if the patch claimed less then"
        )


def _scanned(patch: Patch, matrix: Matrix, state: str) -> list[Sighting]:
    found = (
        Sighting({one.library: one.version}, state == "present", state)
        for one in matrix.scans
        if one.library == patch.library and one.states.get(patch.id) == state
    )
    return [one for one in found if claims(patch, one.versions)]


def _advice(patch: Patch, matrix: Matrix, found: list[Sighting]) -> str:
    backed = derived(patch, matrix)
    if not any(one.shows for one in found):
        return "no release that was looked at is affected; retire the patch"
    if backed == dict(patch.affects) or not all(backed.values()):
        return "measure there, or name the place in `harmless`"
    return f"what was measured backs {_written(backed)}"


def _written(ranges: Mapping[str, str]) -> str:
    return " and ".join(f"{library} {versions}".strip() for library, versions in ranges.items())


def _on(found: Iterable[Sighting]) -> str:
    """Where something was seen: places in the order of releases, and what was said of them."""
    from packaging.version import Version

    ordered = sorted(found, key=lambda one: [Version(it) for it in one.versions.values()])
    places = short_list(dict.fromkeys(map(str, ordered)), shown=4)
    return f"{places} ({', '.join(dict.fromkeys(one.said for one in ordered))})"

"""Compare the claims of a patch with the measurements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from patchkit.environment import in_range
from patchkit.matrix.evidence import Sighting, sightings
from patchkit.matrix.records import Matrix
from patchkit.patch import Patch
from patchkit.text import short_list

from .ranges import is_claimed, measured_ranges, states_of_releases

if TYPE_CHECKING:
    from packaging.version import Version

_FAR_AHEAD = "99999"
"""A release that nobody has measured yet."""


def contradictions(patch: Patch, matrix: Matrix) -> list[str]:
    """List where a patch claims more or less than was measured.

    A patch must claim each measured release that has the bug, and no other; and each release that
    a range names must have been measured. A patch that only wraps leaves nothing to find in
    sources: only a run of its reproducer measures a release.

    Returns:
        sentences: the claim, the measurements against it, and the change to make.
    """
    found = sightings(patch, matrix)
    claim = f"{patch.id} claims {_range_text(patch.affects)}"
    if not found:
        return [f"{claim}, but nothing has been measured: scan its releases or record a run"]
    advice = _advice(patch, matrix, found)
    problems = [*_release_problems(patch, found)]
    for library in patch.affects:
        problems += _end_problems(patch, matrix, found, library)
    return [f"{claim}, but {problem}: {advice}" for problem in problems] + [
        f"{claim}, but {problem}" for problem in _target_problems(patch, matrix)
    ]


def _release_problems(patch: Patch, found: list[Sighting]) -> Iterator[str]:
    # An opt-in patch fixes no bug: its reproducer tells whether it works.
    subject, verb = ("it", "work") if patch.opt_in else ("the bug", "show")
    claimed = [sighting for sighting in found if is_claimed(patch, sighting.versions)]
    others = [sighting for sighting in found if not is_claimed(patch, sighting.versions)]
    if also := [sighting for sighting in others if sighting.shows and not sighting.is_scan]:
        yield f"{subject} also {verb}s on {_place_list(also)}"
    if also := [sighting for sighting in others if sighting.shows and sighting.is_scan]:
        yield f"the buggy code is also in {_place_list(also)}, and not listed as harmless there"
    runs = [sighting for sighting in claimed if not sighting.is_scan]
    shown = {str(run) for run in runs if run.shows}
    hidden = [run for run in runs if not run.shows]
    if nowhere := [run for run in hidden if str(run) not in shown]:
        yield f"{subject} did not {verb} on {_place_list(nowhere)}"
    if partly := [run for run in hidden if str(run) in shown]:
        yield (
            f"on {_place_list(partly)} {subject} {verb}s only beside some versions of libraries "
            "that `affects` does not name"
        )
    releases = {run.versions[patch.library] for run in runs if run.shows}
    scans = [sighting for sighting in claimed if sighting.is_scan and not sighting.shows]
    if clear := [scan for scan in scans if scan.versions[patch.library] not in releases]:
        yield f"the buggy code is absent or harmless in {_place_list(clear)}"


def _end_problems(
    patch: Patch, matrix: Matrix, found: list[Sighting], library: str
) -> Iterator[str]:
    """Yield the problems with the ends of one library's range."""
    from packaging.version import Version

    states = states_of_releases(patch, found, library)
    claim = patch.affects[library]
    if not states:
        yield f"no {library} was measured beside the other versions it claims"
        return
    newest = max(states)
    measured = {Version(version.base_version) for version in states}
    is_open = in_range(_FAR_AHEAD, claim)
    closed_early = states[newest] and not is_open and in_range(str(newest), claim)
    if in_range("0", claim):
        yield f"{library} {min(states)} is the oldest release measured"
    if closed_early:
        yield f"the newest measured {library}, {newest}, is affected"
    for operator, version in _ends(claim):
        is_end = closed_early and operator in ("<", "<=")
        if version not in measured and not is_end:
            beside = " beside the other versions it claims" if len(patch.affects) > 1 else ""
            attempts = _attempts(patch, matrix, library, version)
            yield f"no measurement settles {library} {version}{beside}{attempts}"


def _ends(claim: str) -> list[tuple[str, Version]]:
    """Return the versions that a range names, each with its operator."""
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    return sorted(
        (specifier.operator, Version(specifier.version.removesuffix(".*")))
        for specifier in SpecifierSet(claim)
    )


def _attempts(patch: Patch, matrix: Matrix, library: str, version: Version) -> str:
    """Return the results that leave a release undecided, in brackets; empty if none."""
    from packaging.version import Version

    outcomes = {
        result.outcome
        for result in matrix.results
        if result.patch == patch.id
        and Version(result.environment.versions.get(library, _FAR_AHEAD)) == version
    }
    problems = {
        scan.problem
        for scan in matrix.scans
        if scan.problem and scan.library == library and Version(scan.version) == version
    }
    attempts = sorted(outcomes) + sorted(problems)
    return f" ({'; '.join(attempts)})" if attempts else ""


def _target_problems(patch: Patch, matrix: Matrix) -> Iterator[str]:
    """Yield the problems of single targets on releases that the patch as a whole claims."""
    if drifted := _claimed_scans(patch, matrix, "drifted"):
        yield f"it drifted on {_place_list(drifted)}: correct its targets or their own ranges"
    if present := _claimed_scans(patch, matrix, "present"):
        yield (
            f"{_place_list(present)} has the buggy code in a target whose own range leaves it "
            "out: widen that range, or scan again if the patch claimed less then"
        )


def _claimed_scans(patch: Patch, matrix: Matrix, state: str) -> list[Sighting]:
    return [
        Sighting({scan.library: scan.version}, state == "present", state)
        for scan in matrix.scans
        if scan.library == patch.library
        and scan.states.get(patch.id) == state
        and is_claimed(patch, {scan.library: scan.version})
    ]


def _advice(patch: Patch, matrix: Matrix, found: list[Sighting]) -> str:
    ranges = measured_ranges(patch, matrix)
    if not any(sighting.shows for sighting in found):
        return "no measured release is affected; retire the patch"
    if ranges == dict(patch.affects) or not all(ranges.values()):
        return "measure there, or name the place in `harmless`"
    return f"the measurements support {_range_text(ranges)}"


def _range_text(ranges: Mapping[str, str]) -> str:
    return " and ".join(f"{library} {versions}".strip() for library, versions in ranges.items())


def _place_list(found: Iterable[Sighting]) -> str:
    """Return the places in the order of releases, and their outcomes or states in brackets."""
    from packaging.version import Version

    ordered = sorted(
        found, key=lambda sighting: [Version(version) for version in sighting.versions.values()]
    )
    places = short_list(dict.fromkeys(map(str, ordered)), shown=4)
    return f"{places} ({', '.join(dict.fromkeys(sighting.verdict for sighting in ordered))})"

"""Bisects a patch over version sets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from ...patch import Patch
from ..evidence import claims, shows_the_bug
from ..outcome_table import OUTCOMES
from ..records import Matrix, MatrixError
from ..sets import VersionSet, by_release
from .finding import Bisected, Measurement
from .search import bisect, measure_all


def over_sets(
    patch: Patch,
    sets: Iterable[VersionSet],
    run: Callable[[VersionSet], Matrix],
    *,
    every: bool = False,
    progress: Callable[[Measurement], None] = lambda one: None,
) -> Bisected:
    """Find the first and the last affected release of a patch's library.

    Args:
        patch: the patch.
        sets: the version sets there are. Those on which another library is not as the patch claims
            are left out.
        run: runs the patch's reproducer on a set.
        every: measure every set, where the borders alone would do.
        progress: called with each measurement as it comes.

    Raises:
        MatrixError: no version set has the library as the patch claims the others.
    """
    pinned = [one for one in sets if set(patch.affects) <= set(one.versions)]
    if not pinned:
        raise MatrixError(
            f"no version set pins {' and '.join(patch.affects)}: where {patch.id} is due shows in "
            "the sources of releases alone (patchkit matrix scan)"
        )
    asked = [one for one in pinned if claims(patch, _others(patch, one))]
    if not asked:
        raise MatrixError(
            f"on no version set the libraries beside {patch.library} are as {patch.id} claims"
        )
    releases = by_release(asked, patch.library)
    measurements: list[Measurement] = []

    def measure(one: VersionSet) -> bool | None:
        found = _measured(patch, one, run)
        measurements.append(found)
        progress(found)
        return found.shows

    def likely(one: VersionSet) -> bool:
        return claims(patch, {patch.library: one.versions[patch.library]})

    states = measure_all(releases, measure) if every else bisect(releases, measure, likely)
    return Bisected(
        patch,
        [row[0].versions[patch.library] for row in releases],
        dict(sorted(states.items())),
        measurements,
        [one for one in pinned if one not in asked],
    )


def _others(patch: Patch, one: VersionSet) -> dict[str, str]:
    return {name: one.versions[name] for name in patch.affects if name != patch.library}


def _measured(patch: Patch, one: VersionSet, run: Callable[[VersionSet], Matrix]) -> Measurement:
    began = time.monotonic()
    matrix = run(one)
    outcome, note = "not measured", "no result came of it"
    for result in matrix.results:
        if result.patch == patch.id:
            outcome, note = result.outcome, result.note or OUTCOMES[result.outcome]
    for failed in matrix.unmeasured:
        note = failed.problem
    return Measurement(
        one.name,
        one.versions[patch.library],
        outcome,
        note,
        shows_the_bug(patch, outcome),
        round(time.monotonic() - began, 1),
    )

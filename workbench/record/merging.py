"""Put old measurements and new ones together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeVar

from patchkit.matrix.outcome_table import NEEDS, TELLS
from patchkit.matrix.records import OF_THE_RELEASE, Matrix, Result, Scan, public_version

_Entry = TypeVar("_Entry")


def merge(old: Matrix, new: Matrix) -> Matrix:
    """Return a matrix in which new measurements replace the old ones of the same place.

    A scan with the same verdicts keeps its date, so that the file changes only if something
    else did. A machine that lacks what a reproducer needs does not replace the outcome of a
    machine that has it.
    """
    results = {_place(result): result for result in old.results}
    for result in new.results:
        known = results.get(_place(result))
        if known is None or known.outcome not in TELLS or result.outcome not in NEEDS:
            results[_place(result)] = result
    scans = {(scan.library, scan.version): scan for scan in old.scans}
    for scan in new.scans:
        before = scans.get((scan.library, scan.version))
        if before is None or before != replace(scan, date=before.date):
            scans[scan.library, scan.version] = scan
    skipped = {version_set.name: version_set for version_set in [*old.unmeasured, *new.unmeasured]}
    unmeasured = (
        version_set for version_set in skipped.values() if not has_run(new, version_set.versions)
    )
    return Matrix(tuple(results.values()), tuple(scans.values()), tuple(unmeasured))


def _place(result: Result) -> tuple[object, ...]:
    versions = tuple(sorted(result.environment.versions.items()))
    return result.patch, result.environment.device, versions


def has_run(matrix: Matrix, versions: Mapping[str, str]) -> bool:
    """Tell whether a reproducer was run on these versions of these distributions."""
    expected = {name: public_version(version) for name, version in versions.items()}
    return any(
        expected == {name: public_version(installed.get(name, "")) for name in expected}
        for installed in (result.environment.versions for result in matrix.results)
    )


def of_some_patches(new: Scan, matrix: Matrix) -> Scan:
    """Return a scan of some patches, with what a matrix says of all others.

    What it says stands where the release could not be read this time.
    """
    place = (new.library, new.version)
    older = next((old for old in matrix.scans if (old.library, old.version) == place), new)
    if new.problem and older.states:
        return older
    others = older.states.keys() - new.states.keys()
    return replace(
        new,
        states={**_of(others, older.states), **new.states},
        notes={**new.notes, **_of(others | {OF_THE_RELEASE}, older.notes)},
        unlisted={**new.unlisted, **_of(others, older.unlisted)},
    )


def _of(keys: Collection[str], entries: Mapping[str, _Entry]) -> dict[str, _Entry]:
    return {key: entry for key, entry in entries.items() if key in keys}

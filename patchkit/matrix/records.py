"""Measurements: reproducers run, releases scanned, and version sets that could not be installed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ..errors import PatchError
from ..libraries import with_role
from .outcome_table import NEEDS, TELLS

LIBRARIES = with_role("measured")
"""The versions that every measurement records, beside those of the patched libraries."""

OF_THE_RELEASE = "*"
"""The key of a scan's note on the release itself."""


_Entry = TypeVar("_Entry")


class MatrixError(PatchError):
    """The compatibility matrix cannot be read or written."""


class ScanError(PatchError):
    """A release, or all releases of a library, cannot be fetched or read."""


@dataclass(frozen=True)
class Environment:
    """The place of a measurement.

    Args:
        versions: distribution to version.
        python: version of the interpreter.
        platform: such as `linux-x86_64`.
        device: `cpu`, or the name of the accelerator.
        date: day of the measurement, ISO 8601.
    """

    versions: dict[str, str]
    python: str
    platform: str
    device: str
    date: str


@dataclass(frozen=True)
class Result:
    """One patch measured in one environment by running its reproducer.

    Args:
        patch: id of the patch.
        outcome: one of `OUTCOMES`.
        environment: where.
        note: details in one line, if the outcome needs any.
    """

    patch: str
    outcome: str
    environment: Environment
    note: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """The same for two measurements if the later one replaces the earlier."""
        versions = tuple(sorted(self.environment.versions.items()))
        return self.patch, self.environment.device, versions


@dataclass(frozen=True)
class Scan:
    """The verdicts on the sources of one release, read without importing them.

    Args:
        library: the distribution.
        version: its release.
        date: day of the scan, ISO 8601.
        states: patch id to one of `STATES`.
        notes: patch id to what drifted, or where the buggy code is; `OF_THE_RELEASE` to a note on
            the release itself, such as that it was yanked.
        unlisted: patch id to `module:qualname` of functions with the buggy code that the patch
            does not name.
        problem: why the release could not be scanned; then there are no states.
    """

    library: str
    version: str
    date: str
    states: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    unlisted: dict[str, list[str]] = field(default_factory=dict)
    problem: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.library, self.version

    def added_to(self, older: Scan) -> Scan:
        """Return this scan of some patches, with what an older one says of all others.

        The older one stands where the release could not be read this time.
        """
        if self.problem and older.states:
            return older
        others = older.states.keys() - self.states.keys()
        return replace(
            self,
            states={**_of(others, older.states), **self.states},
            notes={**self.notes, **_of(others | {OF_THE_RELEASE}, older.notes)},
            unlisted={**self.unlisted, **_of(others, older.unlisted)},
        )


def _of(keys: Collection[str], entries: Mapping[str, _Entry]) -> dict[str, _Entry]:
    return {key: entry for key, entry in entries.items() if key in keys}


@dataclass(frozen=True)
class Unmeasured:
    """Versions, by distribution, that could not be measured, on which day, and why."""

    name: str
    versions: dict[str, str]
    date: str
    problem: str


@dataclass(frozen=True)
class Matrix:
    """All that was measured."""

    results: tuple[Result, ...] = ()
    scans: tuple[Scan, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()

    def merge(self, new: Matrix) -> Matrix:
        """Return a matrix in which new measurements replace the old ones of the same key.

        A scan with the same verdicts keeps its date, so that the file changes only if something
        else did. A machine that lacks what a reproducer needs does not replace the outcome of a
        machine that has it.
        """
        results = {result.key: result for result in self.results}
        for result in new.results:
            is_known = result.key in results and results[result.key].outcome in TELLS
            if not is_known or result.outcome not in NEEDS:
                results[result.key] = result
        scans = {scan.key: scan for scan in self.scans}
        for scan in new.scans:
            old = scans.get(scan.key)
            if old is None or _undated(old) != _undated(scan):
                scans[scan.key] = scan
        skipped = {
            version_set.name: version_set for version_set in [*self.unmeasured, *new.unmeasured]
        }
        unmeasured = (
            version_set for version_set in skipped.values() if not new.has_run(version_set.versions)
        )
        return Matrix(tuple(results.values()), tuple(scans.values()), tuple(unmeasured))

    def has_run(self, versions: Mapping[str, str]) -> bool:
        """Tell whether a reproducer was run on these versions of these distributions."""
        expected = {name: public_version(version) for name, version in versions.items()}
        return any(
            expected == {name: public_version(installed.get(name, "")) for name in expected}
            for installed in (result.environment.versions for result in self.results)
        )


def public_version(version: str) -> str:
    """Return a version without its local label: 2.13.0+cpu and 2.13.0+cu130 are one release."""
    return version.partition("+")[0]


def _undated(scan: Scan) -> dict[str, object]:
    return {name: value for name, value in vars(scan).items() if name != "date"}

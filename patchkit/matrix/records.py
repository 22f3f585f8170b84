"""What was measured: reproducers run, releases scanned, and what could not be measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import PatchError
from .outcome_table import NEEDS, TELLS

LIBRARIES = ("trl", "transformers", "peft", "accelerate", "bitsandbytes", "datasets", "torch")
"""What is always written down of an environment; beside them what patches mend."""

OF_THE_RELEASE = "*"
"""The key of a scan's note that is about the release itself."""


class MatrixError(PatchError):
    """The compatibility matrix cannot be read or written."""


@dataclass(frozen=True)
class Environment:
    """Where something was measured.

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
        note: what happened, in one line, where the outcome does not say it.
    """

    patch: str
    outcome: str
    environment: Environment
    note: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it the same measurement made again."""
        versions = tuple(sorted(self.environment.versions.items()))
        return self.patch, self.environment.device, versions


@dataclass(frozen=True)
class Scan:
    """What the sources of one release say, read without importing them.

    Args:
        library: the distribution.
        version: its release.
        date: day of the scan, ISO 8601.
        states: patch id to one of `STATES`.
        notes: patch id to what drifted, or where the site stands; `OF_THE_RELEASE` to what is to
            be known of the release itself, such as that it was yanked.
        unlisted: patch id to `module:qualname` of functions with a site that the patch does not
            name.
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


@dataclass(frozen=True)
class Unmeasured:
    """A set of versions that could not be measured.

    Args:
        name: of the version set.
        versions: distribution to version, as it was to be installed.
        date: day of the attempt, ISO 8601.
        problem: why, in one line.
    """

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

    def merged(self, new: Matrix) -> Matrix:
        """This matrix with what was measured anew; what was not stays.

        A scan that says what it said before keeps its date, so that the file changes only where
        something changed. A machine that lacks what a reproducer needs takes back nothing that
        one which has it could tell.
        """
        results = {one.key: one for one in self.results}
        for result in new.results:
            told = result.key in results and results[result.key].outcome in TELLS
            if not told or result.outcome not in NEEDS:
                results[result.key] = result
        scans = {one.key: one for one in self.scans}
        for scan in new.scans:
            old = scans.get(scan.key)
            if old is None or _undated(old) != _undated(scan):
                scans[scan.key] = scan
        unmeasured = {one.name: one for one in [*self.unmeasured, *new.unmeasured]}
        left = (one for one in unmeasured.values() if not new.has_run(one.versions))
        return Matrix(tuple(results.values()), tuple(scans.values()), tuple(left))

    def has_run(self, versions: Mapping[str, str]) -> bool:
        """Whether anything was run where these distributions had these versions."""
        return any(
            all(public(there.get(name, "")) == public(it) for name, it in versions.items())
            for there in (one.environment.versions for one in self.results)
        )


def public(version: str) -> str:
    """Without the local label: 2.13.0+cpu and 2.13.0+cu130 are builds of one release."""
    return version.partition("+")[0]


def _undated(scan: Scan) -> dict[str, object]:
    return {name: value for name, value in vars(scan).items() if name != "date"}

"""Measurements: reproducers run, releases scanned, and version sets that could not be installed."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import PatchError
from ..libraries import with_role

LIBRARIES = with_role("measured")
"""The versions that every measurement records, beside those of the patched libraries."""

OF_THE_RELEASE = "*"
"""The key of a scan's note on the release itself."""


class MatrixError(PatchError):
    """The compatibility matrix cannot be read or written."""


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


def public_version(version: str) -> str:
    """Return a version without its local label: 2.13.0+cpu and 2.13.0+cu130 are one release."""
    return version.partition("+")[0]

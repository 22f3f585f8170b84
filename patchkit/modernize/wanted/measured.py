"""Sets of versions that were run together, and the one that has all that scripts name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ...legacy.versions.version_sets import sets as recommended_sets
from ...matrix.lookup import shipped
from ...matrix.records import LIBRARIES, MatrixError, public_version
from .needs import Need
from .ranges import disjoint

_BUILD = "torch"
"""Its builds differ by device, and the user chooses one."""


@dataclass(frozen=True)
class MeasuredSet:
    """Versions that were run together.

    Args:
        torch: the version of torch that was beside them; empty if none was recorded.
    """

    versions: Mapping[str, str]
    torch: str = ""

    def __str__(self) -> str:
        return " ".join(f"{name}=={version}" for name, version in self.versions.items())


@cache
def measured_sets() -> tuple[MeasuredSet, ...]:
    """Return the sets that the matrix and the legacy layer know, the newest first."""
    from packaging.version import Version

    sets: dict[tuple[tuple[str, str], ...], MeasuredSet] = {}
    for pins in recommended_sets():
        versions = dict(pin.split("==") for pin in pins.split())
        sets[_key(versions)] = MeasuredSet(versions)
    try:
        results = shipped().results
    except MatrixError:
        results = ()
    for result in results:
        known = result.environment.versions
        versions = {name: known[name] for name in LIBRARIES if name in known and name != _BUILD}
        torch = public_version(known.get(_BUILD, ""))
        before = sets.get(_key(versions))
        if before is None or not before.torch or Version(before.torch) < Version(torch or "0"):
            pins_beside = before.versions if before else {}
            sets[_key(versions)] = MeasuredSet({**versions, **pins_beside}, torch)
    return tuple(sorted(sets.values(), key=_age, reverse=True))


def best(needs: Sequence[Need], installed: Mapping[str, str]) -> MeasuredSet | None:
    """Return the set that has all that scripts name: what is installed, or the newest."""
    fitting = [
        known for known in measured_sets() if all(need.holds(known.versions) for need in needs)
    ]
    present = (
        known
        for known in fitting
        if all(installed.get(name) == version for name, version in known.versions.items())
    )
    return next(present, fitting[0] if fitting else None)


def apart(needs: Sequence[Need]) -> tuple[Need, ...]:
    """Return what no measured set has: one name, or the first two that no set has together.

    Returns:
        nothing if it takes three names or more.
    """
    sets = measured_sets()
    having = [
        (need, {number for number, known in enumerate(sets) if need.holds(known.versions)})
        for need in needs
    ]
    absent = ((need,) for need, numbers in having if not numbers)
    return next(absent, None) or disjoint(having)


def _key(versions: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, version) for name, version in versions.items() if name in LIBRARIES))


def _age(known: MeasuredSet) -> tuple[object, ...]:
    from packaging.version import Version

    return tuple(Version(known.versions.get(name, "0")) for name in LIBRARIES if name != _BUILD)

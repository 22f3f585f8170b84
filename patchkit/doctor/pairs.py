"""Versions that are known not to work together, though nothing in their metadata forbids it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..environment import in_range, installed_version
from .known_pairs import KNOWN, KnownPair
from .section import Row, Section, Step

NAME, TITLE = "pairs", "Versions known not to work together"

_NONE = "None is installed."


@dataclass(frozen=True)
class Met:
    """A pair that is installed.

    Args:
        pair: what is known of it.
        versions: the versions that are installed of its libraries.
    """

    pair: KnownPair
    versions: Mapping[str, str]

    def __str__(self) -> str:
        return " with ".join(f"{name} {version}" for name, version in self.versions.items())


def met(pairs: Iterable[KnownPair] = KNOWN) -> Iterable[Met]:
    """The pairs whose libraries are all installed in the ranges that were measured."""
    for pair in pairs:
        versions = {name: installed_version(name) or "" for name in pair.libraries}
        if all(
            version and in_range(version, pair.libraries[name])
            for name, version in versions.items()
        ) and not any(installed_version(name) for name in pair.without):
            yield Met(pair, versions)


def check() -> Section:
    found = list(met())
    rows: list[Row] = []
    for one in found:
        without = "".join(f", without {name}" for name in one.pair.without)
        measured = f"measured with {one.pair.measured}."
        rows.append(Row("", f"{one}{without}: {measured}", alarming=True))
    facts = [
        {
            "versions": dict(one.versions),
            "without": list(one.pair.without),
            "happens": one.pair.happens,
            "measured": one.pair.measured,
        }
        for one in found
    ]
    steps = tuple(
        Step(f"{one} do not work together: {one.pair.happens}.", one.pair.do, wrong=True)
        for one in found
    )
    return Section(NAME, TITLE, tuple(rows) or (Row("", _NONE),), facts, steps)

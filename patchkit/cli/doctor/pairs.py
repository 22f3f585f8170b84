"""Check for versions known not to work together, though their metadata allow it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...about import shipped_table
from ...environment import in_range, installed_version, is_version
from .section import Section, SectionRow, Step

NAME, TITLE = "pairs", "Versions known not to work together"


@dataclass(frozen=True, kw_only=True)
class KnownPair:
    """Versions that do not work together.

    Args:
        libraries: distribution to PEP 440 range, as measured; all must hold.
        without: distributions that must be absent.
        unless: distribution to range; these work around it for what is trained with them.
        happens: the failure as a user sees it, in one sentence without a full stop.
        do: commands, any of which fixes it.
        measured: the versions that were seen to fail, and those beside them that work.
    """

    libraries: Mapping[str, str]
    without: Sequence[str] = ()
    unless: Mapping[str, str] = field(default_factory=dict)
    happens: str
    do: Sequence[str]
    measured: str


KNOWN = tuple(KnownPair(**row) for row in shipped_table("cli/doctor/known_pairs.json"))
"""Versions that fail together, each measured beside versions that do not."""


@dataclass(frozen=True)
class InstalledPair:
    """A known pair that is installed, and the versions of its libraries."""

    pair: KnownPair
    versions: Mapping[str, str]

    @property
    def around(self) -> str:
        """The installed distribution that works around it; empty if none does."""
        installed = ((name, installed_version(name), at) for name, at in self.pair.unless.items())
        return next((name for name, here, at in installed if here and in_range(here, at)), "")

    def __str__(self) -> str:
        return " with ".join(f"{name} {version}" for name, version in self.versions.items())


def installed_pairs(pairs: Iterable[KnownPair] = KNOWN) -> Iterable[InstalledPair]:
    """Yield the pairs whose libraries are all installed in the measured ranges."""
    for pair in pairs:
        versions = {name: installed_version(name) or "" for name in pair.libraries}
        if all(
            is_version(version) and in_range(version, pair.libraries[name])
            for name, version in versions.items()
        ) and not any(installed_version(name) for name in pair.without):
            yield InstalledPair(pair, versions)


def check() -> Section:
    found: list[SectionRow | Step] = []
    facts = []
    for match in installed_pairs():
        pair = match.pair
        without = "".join(f", without {name}" for name in pair.without)
        around = f" `{match.around}` works around it." if match.around else ""
        text = f"{match}{without}: measured with {pair.measured}.{around}"
        found.append(SectionRow("", text, alarming=not around))
        if not around:
            problem = f"{match} do not work together: {pair.happens}."
            found.append(Step(problem, tuple(pair.do), wrong=True))
        facts.append(
            {
                "versions": dict(match.versions),
                "without": list(pair.without),
                "happens": pair.happens,
                "measured": pair.measured,
                "worked_around_by": match.around,
            }
        )
    return Section.of(NAME, TITLE, found, facts, nothing="None is installed.")

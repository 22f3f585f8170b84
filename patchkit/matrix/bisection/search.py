"""Finds the first and the last affected release with few measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..sets import VersionSet

Measure = Callable[[VersionSet], "bool | None"]
"""Whether the bug shows on a version set; None where that set cannot tell."""


def bisect(
    releases: Sequence[Sequence[VersionSet]],
    measure: Measure,
    likely: Callable[[VersionSet], bool] = lambda one: False,
) -> dict[int, bool | None]:
    """Measure until both borders of what is affected are known.

    What is affected is taken to be one interval. Both ends are measured, then the borders are
    bisected. Where the bug shows at neither end, it is looked for where it is likely, and then
    everywhere. A release is measured once: on its first set that can tell.

    Args:
        releases: the version sets of each release, in the order of releases.
        measure: measures one.
        likely: whether the bug is expected on a set.

    Returns:
        place of each release that was measured to whether it is affected; None where no set of it
        can tell.
    """
    states: dict[int, bool | None] = {}

    def state(place: int) -> bool | None:
        if place not in states:
            told = (measure(one) for one in releases[place])
            states[place] = next((one for one in told if one is not None), None)
        return states[place]

    places = range(len(releases))
    ends = [next((it for it in order if state(it) is not None), None) for order in _both(places)]
    expected = [place for place in places if any(map(likely, releases[place]))]
    tried = [place for place in ends if place is not None] + [*_spread(expected), *_spread(places)]
    affected = next((place for place in tried if state(place)), None)
    if affected is not None:
        for clean in _nearest_clean(states, affected):
            _narrow(states, state, clean, affected)
    return states


def measure_all(
    releases: Sequence[Sequence[VersionSet]], measure: Measure
) -> dict[int, bool | None]:
    """Measure every set: a release is affected where the bug shows on any set of it."""
    states: dict[int, bool | None] = {}
    for place, sets in enumerate(releases):
        told = [one for one in map(measure, sets) if one is not None]
        states[place] = any(told) if told else None
    return states


@dataclass(frozen=True)
class Borders:
    """Where what is affected begins and ends.

    Args:
        first: place of the first affected release, None where none is.
        before: place of the nearest older one that is not; None where none was found.
        last: place of the last affected release.
        after: place of the nearest newer one that is not.
    """

    first: int | None = None
    before: int | None = None
    last: int | None = None
    after: int | None = None


def borders(states: dict[int, bool | None]) -> Borders:
    """The borders that measured states show."""
    affected = [place for place, shows in states.items() if shows]
    if not affected:
        return Borders()
    first, last = min(affected), max(affected)
    clean = [place for place, shows in states.items() if shows is False]
    before = max((place for place in clean if place < first), default=None)
    after = min((place for place in clean if place > last), default=None)
    return Borders(first, before, last, after)


def _both(places: range) -> tuple[range, range]:
    return places, places[::-1]


def _nearest_clean(states: dict[int, bool | None], affected: int) -> list[int]:
    clean = [place for place, shows in states.items() if shows is False]
    below = [place for place in clean if place < affected]
    above = [place for place in clean if place > affected]
    return [*([max(below)] if below else []), *([min(above)] if above else [])]


def _narrow(
    states: dict[int, bool | None],
    state: Callable[[int], bool | None],
    clean: int,
    affected: int,
) -> None:
    """Measure between two releases until nothing that can tell lies between them."""
    while True:
        between = range(min(clean, affected) + 1, max(clean, affected))
        unknown = [place for place in between if place not in states]
        if not unknown:
            return
        middle = unknown[len(unknown) // 2]
        shows = state(middle)
        if shows is not None:
            clean, affected = (clean, middle) if shows else (middle, affected)


def _spread(places: Sequence[int]) -> Iterator[int]:
    """All places, each in the middle of the widest stretch that is left."""
    stretches = [places]
    while stretches:
        stretch = stretches.pop(0)
        if stretch:
            middle = len(stretch) // 2
            yield stretch[middle]
            stretches += [stretch[:middle], stretch[middle + 1 :]]

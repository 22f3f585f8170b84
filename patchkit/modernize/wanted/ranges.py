"""The releases of each library in which all that a script names exists."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from ..history import History, Releases
from .needs import Need


@dataclass(frozen=True)
class Range:
    """The releases of a library that have all that a script names.

    Args:
        releases: these releases, the oldest first; empty if none has everything.
        runs: the first and the last of each row of releases without a gap.
        first_by: what the release before the first lacks; None if the first is the first that was
            read, or there is none.
        last_by: what the release after the last lacks; None if the last is the newest that was
            read, or there is none.
        apart: two names that no release has together, where there are such.
    """

    library: str
    releases: tuple[str, ...]
    runs: tuple[tuple[str, str], ...] = ()
    first_by: Need | None = None
    last_by: Need | None = None
    apart: tuple[Need, ...] = ()

    @property
    def first(self) -> str:
        return self.releases[0] if self.releases else ""

    @property
    def last(self) -> str:
        return self.releases[-1] if self.releases else ""


def ranges(needs: Sequence[Need], history: History) -> list[Range]:
    """Return the range of each library that a script names something of."""
    narrowed = [need for need in needs if need.possible]
    while True:
        found = list(_ranges(narrowed, history))
        remaining = {known.library: frozenset(known.releases) for known in found if known.releases}
        before, narrowed = narrowed, [_narrowed(need, remaining) for need in narrowed]
        if narrowed == before:
            return found


def _narrowed(need: Need, remaining: Mapping[str, Releases]) -> Need:
    """Return a need without the possibilities that the other needs rule out."""
    possible = tuple(
        together
        for together in need.possible
        if all(
            releases & remaining.get(library, releases) for library, releases in together.items()
        )
    )
    return replace(need, possible=possible) if possible else need


def _ranges(needs: Sequence[Need], history: History) -> Iterator[Range]:
    for library in history.libraries:
        bounds = [
            (need, releases) for need in needs if (releases := need.releases(library)) is not None
        ]
        if not bounds:
            continue
        known = history.releases(library)
        common = [
            release for release in known if all(release in releases for _, releases in bounds)
        ]
        if not common:
            yield Range(library, (), apart=disjoint(bounds))
            continue
        begin, end = known.index(common[0]), known.index(common[-1])
        before = known[begin - 1] if begin else ""
        after = known[end + 1] if end + 1 < len(known) else ""
        yield Range(
            library,
            tuple(common),
            tuple(_runs(common, known)),
            next((need for need, there in bounds if before and before not in there), None),
            next((need for need, there in bounds if after and after not in there), None),
        )


def _runs(common: Sequence[str], known: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the first and the last of each row of releases without a gap."""
    numbers = [known.index(release) for release in common]
    begins = [number for number in numbers if number - 1 not in numbers]
    ends = [number for number in numbers if number + 1 not in numbers]
    for begin, end in zip(begins, ends, strict=True):
        yield known[begin], known[end]


def disjoint(having: Iterable[tuple[Need, Collection[object]]]) -> tuple[Need, ...]:
    """Return the first two needs that nothing has together; nothing if it takes more of them."""
    for (first, there), (second, here) in combinations(having, 2):
        if not set(there) & set(here):
            return first, second
    return ()

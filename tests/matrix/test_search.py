"""The search for the borders of what is affected, on made-up releases."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil, log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patchkit.matrix.bisection.search import Borders, bisect, borders, measure_all
from patchkit.matrix.sets import VersionSet


@dataclass
class World:
    """Releases with some sets each, an affected interval, and sets that cannot tell."""

    releases: list[list[VersionSet]]
    affected: range
    dumb: frozenset[str]

    def __post_init__(self) -> None:
        self.measured: Counter[str] = Counter()
        self.place = {one.name: place for place, row in enumerate(self.releases) for one in row}

    def measure(self, one: VersionSet) -> bool | None:
        self.measured[one.name] += 1
        return None if one.name in self.dumb else self.place[one.name] in self.affected

    def tells(self, place: int) -> bool:
        return any(one.name not in self.dumb for one in self.releases[place])

    @property
    def truth(self) -> Borders:
        """What measuring all would show."""
        telling = [place for place in range(len(self.releases)) if self.tells(place)]
        inside = [place for place in telling if place in self.affected]
        if not inside:
            return Borders()
        before = [place for place in telling if place < inside[0]]
        after = [place for place in telling if place > inside[-1]]
        return Borders(
            inside[0], before[-1] if before else None, inside[-1], after[0] if after else None
        )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=60))
    releases = [
        [VersionSet(f"{place}-{number}", {"trl": f"1.{place}"}) for number in range(size)]
        for place, size in enumerate(sizes)
    ]
    start = draw(st.integers(0, len(sizes)))
    affected = range(start, draw(st.integers(start, len(sizes))))
    names = [one.name for row in releases for one in row]
    dumb = draw(st.one_of(st.just(frozenset()), st.frozensets(st.sampled_from(names))))
    return World(releases, affected, dumb)


@settings(deadline=None)
@given(worlds(), st.booleans())
def test_the_borders_are_found(world: World, hint: bool) -> None:
    def likely(one: VersionSet) -> bool:
        return hint and world.place[one.name] in world.affected

    found = bisect(world.releases, world.measure, likely)
    assert borders(found) == world.truth
    assert set(world.measured.values()) <= {1}, "something was measured twice"
    for place, shows in found.items():
        assert shows is (place in world.affected if world.tells(place) else None)


@settings(deadline=None)
@given(worlds())
def test_few_measurements_are_made(world: World) -> None:
    """Both ends, one inside, and two borders; sets that cannot tell come on top."""
    bisect(world.releases, world.measure, lambda one: world.place[one.name] in world.affected)
    if world.truth.first is None:
        return
    asked = sum(name not in world.dumb for name in world.measured)
    assert asked <= 3 + 2 * ceil(log2(len(world.releases) + 1))


@settings(deadline=None)
@given(worlds())
def test_each_border_between_two_ends_costs_a_logarithm(world: World) -> None:
    """Without a hint, where one end is affected: both ends, and one border."""
    ends = {0, len(world.releases) - 1}
    if world.dumb or not ends & set(world.affected):
        return
    bisect(world.releases, world.measure)
    assert sum(world.measured.values()) <= 2 + ceil(log2(len(world.releases) + 1))


@settings(deadline=None)
@given(worlds())
def test_all_are_measured_where_that_is_asked_for(world: World) -> None:
    found = measure_all(world.releases, world.measure)
    assert set(world.measured) == set(world.place)
    assert borders(found) == world.truth


def line(count: int) -> list[list[VersionSet]]:
    return [[VersionSet(str(place), {"trl": f"1.{place}"})] for place in range(count)]


@pytest.mark.parametrize(
    ("affected", "likely", "order"),
    [
        (range(22), (), [0, 21]),
        (range(8, 22), (), [0, 21, 11, 6, 9, 8, 7]),
        (range(9), (), [0, 21, 11, 6, 9, 8]),
        (range(20, 21), (20,), [0, 21, 20, 10, 15, 18, 19]),
        (range(16, 18), (15,), [0, 21, 15, 11, 5, 17, 16, 19, 18]),
        (range(4, 6), (8,), [0, 21, 8, 11, 5, 3, 4, 7, 6]),
        (range(5, 5), (20,), [0, 21, 20, *range(22)]),
    ],
)
def test_the_order_of_measurements(affected: range, likely: tuple[int, ...], order) -> None:
    world = World(line(22), affected, frozenset())
    bisect(world.releases, world.measure, lambda one: int(one.name) in likely)
    asked = [int(name) for name in world.measured]
    if affected:
        assert asked == order
    else:  # it is looked for everywhere
        assert asked[:3] == order[:3]
        assert sorted(asked) == list(range(22))


def test_a_second_set_of_a_release_is_asked_only_where_the_first_cannot_tell() -> None:
    pair = [VersionSet("a", {"trl": "1"}), VersionSet("b", {"trl": "1"})]
    world = World([pair], range(1), frozenset())
    assert bisect(world.releases, world.measure) == {0: True}
    assert list(world.measured) == ["a"]
    world = World([pair], range(1), frozenset({"a"}))
    assert bisect(world.releases, world.measure) == {0: True}
    assert list(world.measured) == ["a", "b"]


def test_nothing_to_measure_and_nothing_that_tells() -> None:
    world = World(line(3), range(3), frozenset("012"))
    assert bisect([], world.measure) == {}
    assert bisect(world.releases, world.measure) == dict.fromkeys(range(3))
    assert borders({}) == borders({0: None, 1: False}) == Borders()


def test_a_release_is_affected_where_the_bug_shows_on_any_set_of_it() -> None:
    trio = [VersionSet(name, {"trl": "1"}) for name in "abc"]
    answers = {"a": False, "b": True, "c": None}
    assert measure_all([trio, trio[::2], trio[2:]], lambda one: answers[one.name]) == {
        0: True,
        1: False,
        2: None,
    }


def test_a_hole_lies_between_the_borders() -> None:
    assert borders({0: False, 1: True, 2: False, 3: True, 4: None}) == Borders(1, 0, 3, None)

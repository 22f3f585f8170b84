"""Bisecting a made-up patch over version sets, with what a run would give made up."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from patchkit.matrix import Environment, Matrix, MatrixError, Result, Unmeasured
from patchkit.matrix.bisection.over_sets import over_sets
from patchkit.matrix.sets import VersionSet
from patchkit.patch import Patch, Wrap

RELEASES = ["0.9", "1.0", "1.1", "1.2", "1.3", "1.9", "1.10", "2.0"]
SETS = [VersionSet(f"set-{release}", {"lib": release, "other": "5"}) for release in RELEASES]


def patch(affects: str = ">=1.1,<2", **others: str) -> Patch:
    return Patch(
        id="lib-x",
        title="it is so",
        affects={"lib": affects, **others},
        changes=(Wrap("lib.a:f", "lib.b:g"),),
    )


def running(**outcomes: str) -> Callable[[VersionSet], Matrix]:
    """What a run gives: outcomes from releases on, until the next one that is named."""
    starts = {name[1:].replace("_", "."): outcome for name, outcome in outcomes.items()}

    def run(one: VersionSet) -> Matrix:
        at = RELEASES.index(one.versions["lib"])
        outcome = next(starts[it] for it in RELEASES[at::-1] if it in starts)
        if outcome == "fails":
            return Matrix(unmeasured=(Unmeasured(one.name, one.versions, "2026-01-01", "no pip"),))
        where = Environment(one.versions, "3.11", "linux", "cpu", "2026-01-01")
        return Matrix((Result("lib-x", outcome, where),))

    return run


CASES = {
    "it claims what is so": (
        patch(),
        running(v0_9="absent", v1_1="mended", v2_0="absent"),
        True,
        ">=1.1,<2",
        [
            "The first affected lib is 1.1 (1.0 is not), the last 1.10 (2.0 is not).",
            "lib-x claims lib >=1.1,<2, which agrees.",
        ],
    ),
    "it claims more, at both ends": (
        patch(">=1.0"),
        running(v0_9="absent", v1_1="mended", v2_0="not-reproduced"),
        False,
        ">=1.1,<2",
        [
            "The first affected lib is 1.1 (1.0 is not), the last 1.10 (2.0 is not).",
            "lib-x claims lib >=1.0; what was measured backs lib >=1.1,<2.",
        ],
    ),
    "it claims less": (
        patch(">=1.2"),
        running(v0_9="absent", v1_1="present", v1_2="mended"),
        False,
        ">=1.1",
        [
            "The first affected lib is 1.1 (1.0 is not), the last 2.0 (the newest measured).",
            "lib-x claims lib >=1.2; what was measured backs lib >=1.1.",
        ],
    ),
    "a border between what cannot tell": (
        patch(">=1.0"),
        running(v0_9="absent", v1_0="fails", v1_1="error", v1_2="not-mended"),
        True,
        ">=1.2",
        [
            "The first affected lib is 1.2 (0.9 is not), the last 2.0 (the newest measured).",
            "lib-x claims lib >=1.0, which agrees.",
            "Could not be told: lib 1.0, 1.1.",
        ],
    ),
    "all are affected": (
        patch(">=0.9"),
        running(v0_9="mended"),
        True,
        ">=0.9",
        [
            "The first affected lib is 0.9 (the oldest measured), the last 2.0 (the newest "
            "measured).",
            "lib-x claims lib >=0.9, which agrees.",
        ],
    ),
    "none is affected": (
        patch(">=1.1"),
        running(v0_9="absent", v1_1="not-reproduced"),
        False,
        "",
        [
            "No lib that could be measured is affected.",
            "lib-x claims lib >=1.1: retire the patch, or mend its reproducer.",
        ],
    ),
    "nothing can be told": (
        patch(">=1.1"),
        running(v0_9="fails"),
        False,
        "",
        [
            "No lib that could be measured is affected.",
            "lib-x claims lib >=1.1: nothing could be measured.",
            "Could not be told: lib 0.9, 1.0, 1.1, 1.2, 1.3, 1.9, 1.10, 2.0.",
        ],
    ),
}


@pytest.mark.parametrize("every", [False, True], ids=["borders", "all"])
@pytest.mark.parametrize("name", CASES)
def test_bisected(name: str, every: bool) -> None:
    it, run, agrees, backed, lines = CASES[name]
    found = over_sets(it, SETS, run, every=every)
    assert str(found).splitlines() == lines
    assert found.agrees is agrees
    assert found.range == backed
    if every:
        assert [one.release for one in found.measurements] == RELEASES


def test_each_measurement_is_told_as_it_comes() -> None:
    told: list[str] = []
    run = running(v0_9="fails", v1_0="absent", v1_1="mended")
    found = over_sets(patch(), SETS, run, progress=lambda one: told.append(one.version_set))
    assert told == [one.version_set for one in found.measurements]
    assert told[:3] == ["set-0.9", "set-1.0", "set-2.0"]
    first, second, *_ = found.measurements
    assert (first.outcome, first.note, first.shows) == ("not measured", "no pip", None)
    assert (second.outcome, second.note, second.shows) == (
        "absent",
        "not due, and no bug showed",
        False,
    )


def test_it_is_looked_for_first_where_the_patch_claims_it() -> None:
    run = running(v0_9="absent", v1_9="mended", v1_10="absent")
    found = over_sets(patch(">=1.9,<1.10"), SETS, run)
    assert found.agrees
    assert [one.release for one in found.measurements] == [
        "0.9",
        "2.0",
        "1.9",
        "1.2",
        "1.3",
        "1.10",
    ]


def test_as_a_dictionary() -> None:
    run = running(v0_9="absent", v1_1="mended", v2_0="absent")
    given = over_sets(patch(), SETS, run).to_dict()
    shown = {name: given[name] for name in ("first", "before", "last", "after", "range", "agrees")}
    assert shown == {
        "first": "1.1",
        "before": "1.0",
        "last": "1.10",
        "after": "2.0",
        "range": ">=1.1,<2",
        "agrees": True,
    }
    assert given["measured"][0]["version_set"] == "set-0.9"


def test_only_sets_with_the_other_library_as_claimed_are_asked() -> None:
    sets = [
        *SETS,
        VersionSet("old", {"lib": "0.1", "other": "4"}),
        VersionSet("bare", {"lib": "9"}),
    ]
    asked = []

    def run(one: VersionSet) -> Matrix:
        asked.append(one.name)
        return running(v0_9="mended")(one)

    found = over_sets(patch(">=0.9", other=">=5"), sets, run)
    assert "old" not in asked
    assert "bare" not in asked
    assert str(found).splitlines()[-1] == (
        "Left out, for another library is not as the patch claims: old."
    )
    with pytest.raises(
        MatrixError, match="on no version set the libraries beside lib are as lib-x"
    ):
        over_sets(patch(other=">=6"), sets, run)
    with pytest.raises(MatrixError, match="no version set pins lib and third"):
        over_sets(patch(third=">=6"), sets, run)


def test_a_hole_is_named() -> None:
    run = running(v0_9="mended", v1_2="absent", v1_3="mended")
    found = over_sets(patch(">=0.9"), SETS, run, every=True)
    assert not found.agrees
    assert str(found).splitlines()[1:] == [
        "lib-x claims lib >=0.9; what was measured backs lib >=0.9,!=1.2.",
        "Between them are not affected: lib 1.2.",
    ]

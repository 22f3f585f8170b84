"""Ranges derived from measurements, and claims that differ from them: made up, and as shipped."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from patchkit.catalogue import entries as catalogue
from patchkit.environment import in_range
from patchkit.matrix.evidence import sightings
from patchkit.matrix.file import default_path, read
from patchkit.matrix.records import Environment, Matrix, Result, Scan
from patchkit.patch import Patch, Rewrite, Wrap
from patchkit.rewrite import Pattern, Rule
from patchkit.rewrite import replace as replaced
from workbench.record.contradictions import contradictions
from workbench.record.ranges import measured_ranges, range_of, states_of_releases

REWRITE = Rewrite("lib.a:f", Rule(Pattern("bug()"), lambda node: [replaced(node, "0")]))
WRAP = Wrap("lib.a:f", "lib.b:g")


def patch(*changes: Any, affects: Any = ">=2,<4", **given: Any) -> Patch:
    affects = {"lib": affects} if isinstance(affects, str) else affects
    return Patch(
        id="lib-x", title="it is so", affects=affects, changes=changes or (REWRITE,), **given
    )


def results(device: str = "cpu", **outcomes: str) -> list[Result]:
    """`results(v2="fixed")`, or with a second library: `v2_other1="fixed"`."""
    made = []
    for where, outcome in outcomes.items():
        numbers = re.fullmatch(r"v([\d_]+?)(?:_other([\d_]+?))?(?:_beside\d)?", where)
        versions = {"lib": numbers[1].replace("_", ".")}
        if numbers[2]:
            versions["other"] = numbers[2].replace("_", ".")
        if "_beside" in where:
            versions["torch"] = where[-1]
        environment = Environment(versions, "3.11", "linux", device, "2026-01-01")
        made.append(Result("lib-x", outcome, environment))
    return made


def scans(**states: str) -> list[Scan]:
    return [
        Scan("lib", version[1:].replace("_", "."), "2026-01-01", {"lib-x": state})
        for version, state in states.items()
    ]


def matrix(*records: Any) -> Matrix:
    flat = [record for group in records for record in group]
    return Matrix(
        tuple(record for record in flat if isinstance(record, Result)),
        tuple(record for record in flat if isinstance(record, Scan)),
    )


READ = scans(v1="absent", v2="matches", v3="matches", v4="absent")
RAN = results(v1="absent", v2="fixed", v3="fixed", v4="absent")

AGREE = {
    "sources alone, as without a GPU": (patch(requires=("cuda",)), [READ]),
    "runs alone": (patch(), [RAN]),
    "both": (patch(), [READ, RAN]),
    "a wrap, by runs": (patch(WRAP), [RAN]),
    "a rewrite beside a wrap, by sources": (patch(WRAP, REWRITE), [READ]),
    "open at the top": (patch(affects=">=2"), [scans(v1="absent", v2="matches", v3="matches")]),
    "the oldest looked at": (patch(affects=">=2"), [scans(v2="matches")]),
    "exact": (patch(affects="==2.*"), [scans(v1="absent", v2_0="matches", v3="absent")]),
    "a hole": (patch(affects=">=1,!=2"), [scans(v1="matches", v2="absent", v3="matches")]),
    "claimed when measured, not any more": (patch(), [READ, results(v4="not-reproduced")]),
    "harmless": (patch(), [scans(v2="matches", v4="harmless")]),
    "what cannot tell": (
        patch(),
        [READ, results(v1="not-affected", v2="error", v3="needs-cuda", v4="not-affected")],
    ),
    "a machine that lacks something": (patch(), [READ, results(v2="needs-avx512-bf16")]),
    "it is there and not fixed": (patch(), [READ, results(v2="not-fixed")]),
    "on one device only": (patch(), [READ, RAN, results("H200", v2="not-reproduced")]),
    "no site, yet it shows": (
        patch(WRAP, REWRITE),
        [scans(v2="absent", v3="matches", v4="absent"), results(v2="fixed")],
    ),
    "drift where nothing is claimed": (patch(), [READ, scans(v5="drifted")]),
    "a pre-release counts as its release": (
        patch(affects=">=2"),
        [scans(v1="absent", v2rc1="matches", v3="matches")],
    ),
    "no fix: its place is there where it is not offered": (
        patch(affects=">=2", opt_in="x"),
        [scans(v1="present", v2="matches")],
    ),
    "another library has the same name for it": (
        patch(),
        [
            READ,
            [
                Scan("other", "9", "2026-01-01", {"lib-x": state})
                for state in ("present", "drifted")
            ],
        ],
    ),
    "no fix: it shows where it is not offered": (
        patch(WRAP, affects=">=2", opt_in="x"),
        [results(v1="present", v2="fixed", v3="fixed")],
    ),
}


@pytest.mark.parametrize("name", AGREE)
def test_claims_that_agree(name: str) -> None:
    it, measured = AGREE[name]
    assert contradictions(it, matrix(*measured)) == []


BACKED = "the measurements support lib >=2,<4"
DIFFER = {
    "begins too late": (
        patch(affects=">=3,<4"),
        [READ],
        "lib-x claims lib >=3,<4, but the buggy code is also in lib 2 (matches), and not listed "
        f"as harmless there: {BACKED}",
    ),
    "begins too late, it ran": (
        patch(affects=">=3,<4"),
        [RAN],
        f"lib-x claims lib >=3,<4, but the bug also shows on lib 2 (fixed): {BACKED}",
    ),
    "begins too early": (
        patch(affects=">=1,<4"),
        [READ],
        "lib-x claims lib >=1,<4, but the buggy code is absent or harmless in lib 1 (absent): "
        f"{BACKED}",
    ),
    "begins too early, it ran": (
        patch(affects=">=1,<4"),
        [RAN],
        f"lib-x claims lib >=1,<4, but the bug did not show on lib 1 (absent): {BACKED}",
    ),
    "begins where nobody looked": (
        patch(affects=">=1.5,<4"),
        [READ],
        "lib-x claims lib >=1.5,<4, but no measurement settles lib 1.5: " + BACKED,
    ),
    "has no beginning": (
        patch(affects="<4"),
        [READ[1:]],
        f"lib-x claims lib <4, but lib 2 is the oldest release measured: {BACKED}",
    ),
    "ends too late": (
        patch(affects=">=2,<5"),
        [READ, scans(v5="absent")],
        "lib-x claims lib >=2,<5, but the buggy code is absent or harmless in lib 4 (absent): "
        + BACKED,
    ),
    "ends too early": (
        patch(affects=">=2,<3"),
        [READ],
        "lib-x claims lib >=2,<3, but the buggy code is also in lib 3 (matches), and not listed "
        f"as harmless there: {BACKED}",
    ),
    "ends where nobody looked": (
        patch(affects=">=2,<3.5"),
        [READ],
        "lib-x claims lib >=2,<3.5, but no measurement settles lib 3.5: " + BACKED,
    ),
    "is open though it was fixed": (
        patch(affects=">=2"),
        [RAN],
        f"lib-x claims lib >=2, but the bug did not show on lib 4 (absent): {BACKED}",
    ),
    "is closed though the newest is affected": (
        patch(affects=">=2,<4"),
        [scans(v2="matches", v3="matches")],
        "lib-x claims lib >=2,<4, but the newest measured lib, 3, is affected: the measurements "
        "support lib >=2",
    ),
    "is closed by a wildcard": (
        patch(affects="==2.*"),
        [scans(v1="absent", v2="matches")],
        "lib-x claims lib ==2.*, but the newest measured lib, 2, is affected: the measurements "
        "support lib >=2",
    ),
    "a wrap, where only sources were read": (
        patch(WRAP),
        [READ, results(v3="fixed", v4="absent")],
        "lib-x claims lib >=2,<4, but no measurement settles lib 2: the measurements support lib "
        ">=3,<4",
    ),
    "a wrap, whose run at the end told nothing": (
        patch(WRAP),
        [results(v2="error", v3="fixed", v4="absent")],
        "lib-x claims lib >=2,<4, but no measurement settles lib 2 (error): the measurements "
        "support lib >=3,<4",
    ),
    "the end could not be scanned": (
        patch(),
        [READ[1:-1], [Scan("lib", "4", "2026-01-01", problem="it is yanked")]],
        "lib-x claims lib >=2,<4, but the newest measured lib, 3, is affected: the measurements "
        "support lib >=2",
    ),
    "the beginning could not be scanned": (
        patch(),
        [READ[2:], [Scan("lib", "2", "2026-01-01", problem="it is yanked")]],
        "lib-x claims lib >=2,<4, but no measurement settles lib 2 (it is yanked): the "
        "measurements support lib >=3,<4",
    ),
    "sources say yes, a run says no": (
        patch(),
        [READ, results(v3="not-reproduced")],
        "lib-x claims lib >=2,<4, but the bug did not show on lib 3 (not-reproduced): the "
        "measurements support lib >=2,<3",
    ),
    "a hole in the middle": (
        patch(affects=">=1"),
        [scans(v1="matches", v2="harmless", v3="matches")],
        "lib-x claims lib >=1, but the buggy code is absent or harmless in lib 2 (harmless): the "
        "measurements support lib >=1,!=2",
    ),
    "a target claims less than the patch": (
        patch(),
        [scans(v1="absent", v2="present", v3="matches", v4="absent")],
        "lib-x claims lib >=2,<4, but lib 2 (present) has the buggy code in a target whose own "
        "range leaves it out: widen that range, or scan again if the patch claimed less then",
    ),
    "code where runs show nothing": (
        patch(),
        [READ[:-1], scans(v4="present"), results(v4="absent")],
        "lib-x claims lib >=2,<4, but the buggy code is also in lib 4 (present), and not listed "
        "as harmless there: measure there, or name the place in `harmless`",
    ),
    "another library decides": (
        patch(),
        [READ, results(v2_beside1="fixed", v2_beside2="not-reproduced")],
        "lib-x claims lib >=2,<4, but on lib 2 (not-reproduced) the bug shows only beside some "
        "versions of libraries that `affects` does not name: measure there, or name the place in "
        "`harmless`",
    ),
    "it is nowhere any more": (
        patch(affects=">=2"),
        [results(v2="not-reproduced", v3="not-reproduced")],
        "lib-x claims lib >=2, but the bug did not show on lib 2, lib 3 (not-reproduced): no "
        "measured release is affected; retire the patch",
    ),
    "it drifted": (
        patch(affects=">=2"),
        [scans(v1="absent", v2="matches", v10="drifted")],
        "lib-x claims lib >=2, but it drifted on lib 10 (drifted): correct its targets or their "
        "own ranges",
    ),
    "nothing was measured": (
        patch(),
        [scans(v5="drifted"), results(v2="error")],
        "lib-x claims lib >=2,<4, but nothing has been measured: scan its releases or record a run",
    ),
    "no fix, and it does not do what it is for": (
        patch(WRAP, affects=">=2", opt_in="x"),
        [results(v2="not-fixed", v3="fixed")],
        "lib-x claims lib >=2, but it did not work on lib 2 (not-fixed): the measurements "
        "support lib >=3",
    ),
    "no fix, and it does it where it is not offered": (
        patch(WRAP, affects=">=3", opt_in="x"),
        [results(v2="fixed", v3="fixed")],
        "lib-x claims lib >=3, but it also works on lib 2 (fixed): the measurements support lib "
        ">=2",
    ),
}


@pytest.mark.parametrize("name", DIFFER)
def test_claims_that_differ(name: str) -> None:
    it, measured, sentence = DIFFER[name]
    assert contradictions(it, matrix(*measured)) == [sentence]


def test_many_releases_are_named_in_their_order() -> None:
    measured = matrix(scans(**{f"v{minor}": "matches" for minor in (9, 10, 2, 11, 8, 12)}))
    (sentence,) = contradictions(patch(affects=">=12"), measured)
    assert "is also in lib 2, lib 8, lib 9, lib 10 and 1 more (matches)" in sentence


def reasons(patch: Patch, measured: Matrix) -> list[str]:
    """What stands between claim and advice."""
    found = contradictions(patch, measured)
    return [sentence.partition(", but ")[2].partition(":")[0] for sentence in found]


TWO = {"lib": ">=2", "other": ">=5"}
TWO_RAN = results(v1_other6="absent", v2_other4="absent", v2_other5="fixed", v3_other6="fixed")


@pytest.mark.parametrize(
    ("affects", "complaints"),
    [
        (TWO, []),
        (
            {"lib": ">=2", "other": ">=6"},
            [
                "the bug also shows on lib 2 with other 5 (fixed)",
                "no measurement settles lib 2 beside the other versions it claims (absent; fixed)",
            ],
        ),
        ({"lib": ">=2", "other": ">=4"}, ["the bug did not show on lib 2 with other 4 (absent)"]),
        (
            {"lib": ">=2", "other": ">=4.5"},
            ["no measurement settles other 4.5 beside the other versions it claims"],
        ),
        ({"lib": ">=2", "other": ">=5,<9"}, ["the newest measured other, 6, is affected"]),
        ({"lib": ">=1", "other": ">=5"}, ["the bug did not show on lib 1 with other 6 (absent)"]),
        (
            {"lib": ">=3", "other": ">=5"},
            [
                "the bug also shows on lib 2 with other 5 (fixed)",
                "no measurement settles other 5 beside the other versions it claims (fixed)",
            ],
        ),
        (
            {"lib": ">=3", "other": ">=7"},
            [
                "the bug also shows on lib 2 with other 5, lib 3 with other 6 (fixed)",
                "no lib was measured beside the other versions it claims",
                "no measurement settles other 7 beside the other versions it claims",
            ],
        ),
    ],
)
def test_two_libraries_of_one_patch(affects: dict[str, str], complaints: list[str]) -> None:
    assert reasons(patch(WRAP, affects=affects), matrix(TWO_RAN)) == complaints


def test_a_run_without_the_second_library_tells_nothing() -> None:
    assert contradictions(patch(WRAP, affects=TWO), matrix(TWO_RAN, results(v9="fixed"))) == []


def test_where_a_library_was_never_as_claimed_no_range_of_it_is_proposed() -> None:
    found = contradictions(patch(WRAP, affects={"lib": ">=3", "other": ">=7"}), matrix(TWO_RAN))
    assert {sentence.rpartition(": ")[2] for sentence in found} == {
        "measure there, or name the place in `harmless`"
    }


def test_sources_say_nothing_of_the_second_library() -> None:
    two = patch(affects={"lib": ">=2", "other": ">=5"})
    measured = matrix(scans(v1="absent", v2="matches", v3="matches"))
    assert reasons(two, measured) == ["no other was measured beside the other versions it claims"]
    assert contradictions(two, matrix(scans(v1="absent", v2="matches"), TWO_RAN)) == []


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ({}, ""),
        ({"1.0": False}, ""),
        ({"1.2.0": True}, ">=1.2"),
        ({"0.20.0": True}, ">=0.20"),
        ({"1.0.0": True, "2.0.0": False}, ">=1,<2"),
        ({"0.9": False, "1.10": True, "1.9": True, "1.11.1": False, "2": False}, ">=1.9,<1.11.1"),
        ({"1": True, "2": False, "3": True}, ">=1,!=2"),
        ({"1": True, "2": False, "3": False, "4": True, "5": False}, ">=1,!=2,!=3,<5"),
        ({"0.27.0rc1": True}, ">=0.27"),
        ({"2025.5.4": True, "2026.2.1": False}, ">=2025.5.4,<2026.2.1"),
    ],
)
def test_range_of(states: dict[str, bool], expected: str) -> None:
    assert range_of({Version(version): shows for version, shows in states.items()}) == expected


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=9))
def test_a_derived_range_holds_what_is_affected_and_nothing_else(shows: list[bool]) -> None:
    measured = matrix(
        [
            Scan("lib", f"1.{minor}.0", "2026-01-01", {"lib-x": "matches" if shown else "absent"})
            for minor, shown in enumerate(shows)
        ]
    )
    backed = measured_ranges(patch(), measured)["lib"]
    assert bool(backed) is any(shows)
    if backed:
        for minor, shown in enumerate(shows):
            assert in_range(f"1.{minor}.0", backed) is shown
        assert in_range("9", backed) is shows[-1]
        assert contradictions(patch(affects=backed), measured) == []


# The catalogue and the matrix as they are shipped.

SHIPPED = {entry.patch.id: entry.patch for entry in catalogue.load()}


@pytest.fixture(scope="module")
def shipped() -> Matrix:
    return read(default_path())


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_patch_claims_what_was_measured(shipped: Matrix, name: str) -> None:
    assert contradictions(SHIPPED[name], shipped) == []


def altered(patch: Patch, measured: Matrix) -> dict[str, str]:
    """The range of a patch's library: moved up, moved down, closed, opened."""
    claim = patch.affects[patch.library]
    states = states_of_releases(patch, sightings(patch, measured), patch.library)
    lower = [specifier.version for specifier in SpecifierSet(claim) if specifier.operator == ">="]
    upper = [str(specifier) for specifier in SpecifierSet(claim) if specifier.operator == "<"]
    older = [str(state) for state in states if state < Version(lower[0])]
    without = ",".join(upper)
    ranges = {
        "up": f">{lower[0]},{without}",
        "down": f">={older[-1] if older else '0.0.1'},{without}",
        "down between releases": f">={lower[0]}.dev1,{without}",
    }
    if upper:
        ranges["opened"] = f">={lower[0]}"
    else:
        newest = max(state for state, shows in states.items() if shows)
        ranges["closed"] = f">={lower[0]},<{newest}"
        ranges["closed above"] = f">={lower[0]},<99999"
    return {name: claim.strip(",") for name, claim in ranges.items()}


@pytest.mark.parametrize("name", SHIPPED)
def test_any_other_range_would_be_found_out(shipped: Matrix, name: str) -> None:
    patch = SHIPPED[name]
    for how, claim in altered(patch, shipped).items():
        other = replace(patch, affects={**patch.affects, patch.library: claim})
        assert contradictions(other, shipped), (how, claim)

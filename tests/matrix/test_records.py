"""Old measurements and new ones, put together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from patchkit.matrix.records import Environment, Matrix, Result, Scan, Unmeasured

HERE = Environment({"trl": "1.16.0", "torch": "2.13.0"}, "3.11.7", "linux", "cpu", "2026-02-03")
ONE = Result("a-a", "fixed", HERE)
LATER = replace(HERE, date="2026-03-04")
AGAIN = Result("a-a", "not-fixed", LATER)
OLDER = replace(ONE, environment=replace(HERE, versions={**HERE.versions, "trl": "1.6.0"}))
ON_GPU = replace(ONE, environment=replace(HERE, device="NVIDIA H200"))
OTHER = replace(ONE, patch="b-b")
FEWER = replace(ONE, environment=replace(HERE, versions={"trl": "1.16.0"}))
ELSEWHERE = replace(AGAIN, environment=replace(LATER, python="3.13.0", platform="darwin-arm64"))
LACKING = replace(AGAIN, outcome="needs-avx512-bf16")
FAILED = replace(ONE, outcome="error")
REVERSED = replace(
    AGAIN, environment=replace(LATER, versions=dict(reversed(HERE.versions.items())))
)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([], [], []),
        ([ONE], [], [ONE]),
        ([], [ONE], [ONE]),
        ([ONE, OLDER], [OTHER], [ONE, OLDER, OTHER]),
        ([ONE, OLDER], [AGAIN], [AGAIN, OLDER]),
        ([ONE], [ELSEWHERE], [ELSEWHERE]),
        ([ONE], [ON_GPU], [ONE, ON_GPU]),
        ([ONE], [FEWER], [ONE, FEWER]),
        ([ONE], [REVERSED], [REVERSED]),
        # Both ran on a CPU, and one CPU has more than the other.
        ([ONE], [LACKING], [ONE]),
        ([LACKING], [ONE], [ONE]),
        ([FAILED], [LACKING], [LACKING]),
        ([], [LACKING], [LACKING]),
    ],
)
def test_results(old: list[Result], new: list[Result], expected: list[Result]) -> None:
    assert list(Matrix(tuple(old)).merge(Matrix(tuple(new))).results) == expected


SCAN = Scan("trl", "1.16.0", "2026-02-03", {"a-a": "matches"})


def test_a_scan_that_says_the_same_keeps_its_date() -> None:
    later = replace(SCAN, date="2026-03-04")
    assert Matrix(scans=(SCAN,)).merge(Matrix(scans=(later,))).scans == (SCAN,)


@pytest.mark.parametrize(
    "new",
    [
        replace(SCAN, date="2026-03-04", states={"a-a": "drifted"}),
        replace(SCAN, date="2026-03-04", notes={"a-a": "no site"}),
        replace(SCAN, date="2026-03-04", unlisted={"a-a": ["trl.x:f"]}),
        replace(SCAN, date="2026-03-04", states={}, problem="there is no wheel"),
    ],
)
def test_a_scan_that_says_another_thing_replaces_the_old(new: Scan) -> None:
    assert Matrix(scans=(SCAN,)).merge(Matrix(scans=(new,))).scans == (new,)


def test_scans_of_other_releases_stay() -> None:
    new = replace(SCAN, version="1.17.0")
    assert Matrix(scans=(SCAN,)).merge(Matrix(scans=(new,))).scans == (SCAN, new)


LEFT = Unmeasured("1.16", {"trl": "1.16.0"}, "2026-02-03", "no such version")


def test_what_could_not_be_measured_is_gone_once_it_was() -> None:
    left = Matrix(unmeasured=(LEFT,))
    assert left.merge(Matrix((OLDER,))).unmeasured == (LEFT,)
    assert left.merge(Matrix((ONE,))).unmeasured == ()
    assert Matrix((ONE,)).merge(left).unmeasured == (LEFT,)
    again = replace(LEFT, problem="the disk is full")
    assert left.merge(Matrix(unmeasured=(again,))).unmeasured == (again,)

"""What is said of a version older than any on which a patch was measured."""

from __future__ import annotations

from typing import Any

import pytest

from patchkit.matrix import lookup
from patchkit.matrix.records import Environment, Matrix, MatrixError, Result, Scan
from patchkit.patch import Status
from patchkit.reporting import status
from patchkit.reporting.notebook import as_html
from patchkit.verification.verification import verify

from ..installed import distribution
from ..madeup_bug import patch

BUG = "madeup-bug"


def run(outcome: str, **versions: str) -> Result:
    return Result(BUG, outcome, Environment(versions, "3.11.7", "linux", "cpu", "2026-02-03"))


def read(state: str, version: str) -> Scan:
    return Scan("madeup", version, "2026-02-03", {BUG: state})


@pytest.fixture
def measured(monkeypatch) -> Any:
    """Puts measurements in place of the matrix; madeup 1.2.0 is installed."""

    def put(*records: Any) -> None:
        runs = tuple(record for record in records if isinstance(record, Result))
        scans = tuple(record for record in records if isinstance(record, Scan))
        monkeypatch.setattr(lookup, "_shipped", lambda: Matrix(runs, scans))

    return put


UNTESTED = (
    "madeup 1.2.0 is older than any measured release, {} and later; whether it has this bug is "
    "not known"
)
CASES = {
    "older than all runs": (">=1.3", [run("fixed", madeup="1.3.0")], "1.3.0"),
    "older than all that was read": (">=1.3", [read("matches", "1.3.0")], "1.3.0"),
    "what could not be told tells nothing": (
        ">=1.3",
        [run("fixed", madeup="1.3.0"), run("error", madeup="1.1"), read("no-anchor", "1.1")],
        "1.3.0",
    ),
    "older than one without the bug": (
        ">=1.4",
        [run("fixed", madeup="1.4"), run("absent", madeup="1.3")],
        "1.3",
    ),
    "this one was measured": (
        ">=1.3",
        [run("fixed", madeup="1.3.0"), run("absent", madeup="1.2.0")],
        None,
    ),
    "an older one was read": (">=1.3", [read("matches", "1.3.0"), read("absent", "1.0")], None),
    "the bug is gone": ("<1.2", [run("fixed", madeup="1.1")], None),
    "the bug is gone, unmeasured": ("<1.2", [run("fixed", madeup="1.3")], None),
    "nothing was measured": (">=1.3", [], None),
    "another patch was measured": (">=1.3", [Scan("madeup", "1.3", "2026-02-03")], None),
}


@pytest.mark.parametrize(("affects", "records", "oldest"), CASES.values(), ids=CASES)
def test_status(
    library, session, apply, measured, affects: str, records: list[Any], oldest: str | None
) -> None:
    measured(*records)
    code = library.load("trainer").Trainer.__init__.__code__
    made = session(patch(affects=affects))
    for report in (apply(made), made.report()):
        found = report[BUG]
        assert found.status is (Status.UNTESTED if oldest else Status.NOT_AFFECTED)
        if oldest:
            assert found.reason == UNTESTED.format(oldest)
            assert found.diff() == found.advice == ""
    assert library.load("trainer").Trainer.__init__.__code__ is code


@pytest.mark.parametrize(
    ("version", "known"), [("1.3.0rc1", True), ("1.3.0.dev0", True), ("1.2.9", False)]
)
def test_a_pre_release_counts_as_its_release(
    library, session, measured, version: str, known: bool
) -> None:
    measured(run("absent", madeup="1.3.0"), run("fixed", madeup="1.4.0"))
    library.release(version)
    found = session(patch(affects=">=1.4")).report()[BUG]
    assert found.status is (Status.NOT_AFFECTED if known else Status.UNTESTED)


def test_another_library_is_older(library, session, measured, tmp_path) -> None:
    distribution(tmp_path, "beside", "0.4")
    measured(run("fixed", madeup="1.2.0", beside="0.5"))
    both = patch(affects=">=1")
    object.__setattr__(both, "affects", {"madeup": ">=1", "beside": ">=0.5"})
    found = session(both).report()[BUG]
    assert (found.status, found.version) == (Status.UNTESTED, "1.2.0")
    assert found.reason.startswith("beside 0.4 is older than any measured release, 0.5 and later")


def test_a_matrix_that_cannot_be_read(library, session, monkeypatch) -> None:
    monkeypatch.setattr(lookup, "_shipped", lambda: MatrixError("damaged"))
    assert session(patch(affects=">=1.3")).report()[BUG].status is Status.NOT_AFFECTED


def test_what_is_due_reads_no_matrix(library, session, apply, monkeypatch) -> None:
    def fail() -> Matrix:
        raise AssertionError("it was read")

    monkeypatch.setattr(lookup, "_shipped", fail)
    made = session(patch("a-a"), patch("b-b", affects="<1.2"), patch("c-c", affects=">=1.3"))
    with pytest.raises(AssertionError, match="it was read"):
        str(made.report())
    assert session(patch("a-a"), patch("b-b", affects="<1.2")).report().keys() == ["a-a", "b-b"]


def test_where_it_is_said(library, session, measured) -> None:
    measured(run("fixed", madeup="1.3.0"))
    report = session(patch(affects=">=1.3"), patch("madeup-other", affects="<1")).report()
    assert report.summary() == "1 untested, 1 not-affected"
    text = str(report)
    assert f"\nnot affected: madeup-other\nuntested, older than any measured release: {BUG}" in text
    assert text.splitlines()[0].endswith("no patch is due here")
    page = as_html(report)
    assert "2 not due here" in page
    assert f'<td style="text-align:left;vertical-align:top;">{"untested"}</td>' in page
    assert UNTESTED.format("1.3.0") in page
    first, _ = report.to_dict()["patches"]
    assert (first["status"], first["reason"]) == ("untested", UNTESTED.format("1.3.0"))
    assert [record.id for record in report.with_status("untested")] == [BUG]
    assert not status.ROWS[Status.UNTESTED].due


def test_verify_says_it_too(library, session, measured, monkeypatch) -> None:
    measured(run("fixed", madeup="1.3.0"))
    monkeypatch.setattr("patchkit.engine.session.SESSION", session(patch(affects=">=1.3")))
    ((verdict,), exit_status) = (found := verify()), found.exit_status
    assert (verdict.outcome, verdict.without) == ("not-affected", UNTESTED.format("1.3.0"))
    assert exit_status == 0

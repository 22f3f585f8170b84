"""The report as a sequence, a mapping and JSON, and what its records say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

import patchkit
from patchkit import PatchError, UnknownPatchError
from patchkit.catalogue.entries import Catalogue, Entry
from patchkit.engine.session import Session
from patchkit.patch import Rewrite, Status
from patchkit.reporting.report import Report

from ..madeup_bug import BUG, TARGET, patch
from .conftest import broken_report, troubled


def test_a_sequence_of_records(three) -> None:
    assert isinstance(three, Sequence)
    assert len(three) == 3
    assert [record.id for record in three] == ["a-a", "b-b", "c-c"]
    assert (three[0].id, three[-1].id, [record.id for record in three[1:]]) == (
        "a-a",
        "c-c",
        ["b-b", "c-c"],
    )
    assert [record.id for record in reversed(three)] == ["c-c", "b-b", "a-a"]
    assert three.index(three[1]) == 1
    assert three.count(three[1]) == 1
    assert bool(three)
    with pytest.raises(IndexError):
        three[3]


def test_a_mapping_by_id(three) -> None:
    assert three["b-b"] is three[1]
    assert three.keys() == ["a-a", "b-b", "c-c"]
    assert dict(three) == {record.id: record for record in three}
    assert "b-b" in three
    assert "b" not in three
    assert None not in three


def test_a_record_is_in_its_report(three, session) -> None:
    assert three[1] in three
    assert session(patch("d-d")).report()[0] not in three


@pytest.mark.parametrize("unknown", ["a", "A-A", "", "a-*"])
def test_unknown_id(three, unknown: str) -> None:
    with pytest.raises(UnknownPatchError) as caught:
        three[unknown]
    assert str(caught.value) == f"no patch {unknown!r} in this report; it has a-a, b-b, c-c"


@pytest.mark.parametrize(
    ("statuses", "ids"),
    [
        ((Status.AVAILABLE,), ["a-a", "c-c"]),
        (("not-affected",), ["b-b"]),
        ((Status.NOT_AFFECTED, "available"), ["a-a", "b-b", "c-c"]),
        (("applied",), []),
        ((), []),
    ],
)
def test_with_status(three, statuses: tuple[Any, ...], ids: list[str]) -> None:
    assert [record.id for record in three.with_status(*statuses)] == ids


def test_summary(three) -> None:
    assert three.summary() == "2 available, 1 not-affected"
    assert repr(three) == "<Report: 2 available, 1 not-affected>"
    assert Report([]).summary() == "no patches"


def test_an_empty_report() -> None:
    empty = Report([])
    assert (len(empty), list(empty), empty.keys(), empty.diff()) == (0, [], [], "")
    assert str(empty) == f"patchkit {patchkit.__version__}: no patches"
    assert "no patches" in empty._repr_html_()
    assert empty.to_dict() == {
        "schema": 1,
        "changed": [],
        "patches": [],
        "legacy": None,
        "refusals": [],
    }
    with pytest.raises(UnknownPatchError):
        empty["a-a"]


FIELDS = [
    "id",
    "title",
    "library",
    "version",
    "affects",
    "status",
    "reason",
    "targets",
    "upstream",
    "tested",
    "error",
    "advice",
]


def test_schema(library, session, apply) -> None:
    """Others read this: more keys may come; any other change needs another number."""
    library.load("trainer")
    one = session(patch("a-a"), patch("b-b", affects=">=2"))
    given = apply(one).to_dict()
    assert list(given) == ["schema", "changed", "patches", "legacy", "refusals"]
    assert (given["schema"], given["changed"]) == (1, ["a-a"])
    assert [list(row) for row in given["patches"]] == [FIELDS, FIELDS]
    assert given["patches"][0] == {
        "id": "a-a",
        "title": "it is fixed",
        "library": "madeup",
        "version": "1.2.0",
        "affects": {"madeup": ">=1"},
        "status": "applied",
        "reason": "fixed Trainer.__init__",
        "targets": [{"target": TARGET, "status": "applied", "reason": ""}],
        "upstream": ["https://example.org/1"],
        "tested": {"level": "none", "outcomes": [], "detail": "not measured on madeup 1.2.0"},
        "error": None,
        "advice": "",
    }
    assert given["patches"][1]["status"] == "not-affected"
    assert given["patches"][1]["targets"] == []


def test_every_status_can_be_told(library, session, apply) -> None:
    report = troubled(library, session, apply).report()
    for record in report:
        assert record.id.startswith(record.status.value)
        assert record.reason
        assert (record.id if record.version else record.library) in str(report)
        assert record.id in report._repr_html_()
        assert isinstance(record.diff(), str)
    assert json.loads(report.to_json()) == report.to_dict()
    assert report["failed-one"].to_dict()["error"] == "ZeroDivisionError('oops')"
    assert report["not-installed"].to_dict()["version"] is None


def test_json_is_what_to_dict_says(three) -> None:
    assert json.loads(three.to_json()) == three.to_dict()
    assert json.loads(three.to_json(indent=None)) == three.to_dict()
    assert "\n" not in three.to_json(indent=None)


def test_a_broken_definition() -> None:
    (one,) = broken_report()
    assert (one.id, one.status, one.reason) == ("addon.bad", "failed", "patch 'x': it has no title")
    assert isinstance(one.error, PatchError)
    assert one.diff() == ""
    assert str(one.tested) == "not measured"


def test_a_report_is_of_its_moment(library, session, apply) -> None:
    one = session(patch())
    before = one.report()
    library.load("trainer")
    after = apply(one)
    assert (before[0].status, after[0].status) == (Status.AVAILABLE, Status.APPLIED)
    one.revert(None)
    assert after[0].status == Status.APPLIED


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ((Rewrite(TARGET, BUG),), "waits for the import of 1 module"),
        ((Rewrite("madeup.*:*.__init__", BUG),), ""),
    ],
)
def test_a_pending_patch_says_what_it_waits_for(
    library, session, apply, changes: Any, reason: str
) -> None:
    one = session(patch("madeup-bug", *changes))
    record = apply(one)["madeup-bug"]
    assert record.status == Status.PENDING
    assert record.reason.startswith(reason or "waits for")


def test_where_several_targets_differ(library, session, apply) -> None:
    library.write("later", "def f():\n    return bug()\n")
    one = session(patch("madeup-bug", Rewrite(TARGET, BUG), Rewrite("madeup.later:f", BUG)))
    library.load("trainer")
    record = apply(one)["madeup-bug"]
    assert record.status == Status.APPLIED
    assert record.reason == "fixed Trainer.__init__; 1 more when their modules are imported"
    assert [str(target.status) for target in record.targets] == ["applied", "pending"]


def test_records_do_not_change(three) -> None:
    with pytest.raises(AttributeError):
        three[0].status = Status.APPLIED
    three[0].to_dict()["affects"]["madeup"] = "changed in the copy"
    assert three[0].affects == {"madeup": ">=1"}


def test_entries_without_a_reproducer_are_reported() -> None:
    one = patch("a-a", affects=">=9")
    assert len(Session(Catalogue({one.id: Entry(one, "tests", None)})).report()) == 1


def test_overridden_says_by_what(library, session, apply) -> None:
    made = troubled(library, session, apply)
    (target,) = made.report()["overridden-one"].targets
    assert target.reason == f"it is {troubled.__module__}:troubled.<locals>.<lambda> now"
    reason = f"someone has since replaced Trainer.step ({target.reason})"
    assert made.report()["overridden-one"].reason == reason
    del library.load("trainer").Trainer.step
    assert made.report()["overridden-one"].reason.endswith("Trainer.step (it is gone)")


WHAT_TO_DO = {
    "drifted-one": "`patchkit verify drifted-one`",
    "overridden-one": "call patchkit.apply() again",
    "failed-one": 'report()["failed-one"].error',
    "disabled-one": "",
    "applied-one": "",
    "pending-one": "",
    "not-affected": "",
    "not-installed": "",
}


def test_what_to_do(library, session, apply) -> None:
    report = troubled(library, session, apply).report()
    assert {record.id for record in report} == set(WHAT_TO_DO)
    for name, advice in WHAT_TO_DO.items():
        assert advice in report[name].advice
        assert bool(advice) == bool(report[name].advice)
    assert session(patch()).report()[0].advice == "patchkit.apply() applies it"
    asked = session(patch("madeup-asked", opt_in="preflight")).report()[0]
    assert asked.advice == "patchkit.apply(preflight=True) applies it"
    assert "fix that patch file" in broken_report()[0].advice


@pytest.mark.filterwarnings("ignore::patchkit.PatchWarning")
def test_what_to_do_about_a_collision(library, session, apply) -> None:
    library.load("trainer")
    one = apply(session(patch("a-a"), patch("b-b")))["b-b"]
    assert (one.status, one.rival) == (Status.DRIFTED, "a-a")
    assert one.advice == "leave one of the two out: `PATCHKIT_DISABLE=b-b`, or `=a-a`"

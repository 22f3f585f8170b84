"""The comparison of what programs observed: what changed, what patchkit does about it, the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from workbench import ROOT
from workbench.behaviour import comparing, page
from workbench.behaviour.command import behaviour
from workbench.behaviour.comparing import BACK, FIXED, NAMED, NEITHER, OPEN, TOLD, Expected, Run
from workbench.behaviour.programs import facts

PROGRAMS = ROOT / "workbench" / "behaviour" / "programs"


def made(transformers: str, layer: str = "", said: str = "", **found: Any) -> Run:
    releases = {"transformers": transformers, "trl": "1.0.0"}
    return Run(releases, layer, {"kind.program": found}, {"kind.program": [said] if said else []})


def judged(runs: list[Run], *rows: Expected) -> dict[str, tuple[str, str]]:
    plain, layered = comparing.sorted_runs(runs)
    found = [comparing.judged(change, plain, layered, rows) for change in comparing.changes(plain)]
    return {difference.fact: (difference.state, difference.problem) for difference in found}


def test_what_is_the_same_in_all_releases_is_no_difference() -> None:
    assert judged([made("4.0", fact=1), made("5.0", fact=1)]) == {}


def test_a_difference_is_open_until_something_is_done_about_it() -> None:
    runs = [made("5.0", fact=2), made("4.0", fact=1)]
    assert judged(runs) == {"fact": (OPEN, "")}
    assert judged([*runs, made("5.0", "True", fact=2)]) == {"fact": (OPEN, "")}
    assert judged([*runs, made("5.0", "True", fact=1)]) == {"fact": (FIXED, "")}
    named = made("5.0", "transformers==4.0", fact=1)
    assert judged([*runs, named]) == {"fact": (NAMED, "")}
    other = made("5.0", "transformers==3.0", fact=1)
    assert judged([*runs, other]) == {"fact": (OPEN, "")}


def test_the_last_change_is_the_one_to_take_back() -> None:
    runs = [made("3.0", fact=1), made("4.0", fact=2), made("5.0", fact=3)]
    assert judged([*runs, made("5.0", "True", fact=1)]) == {"fact": (OPEN, "")}
    assert judged([*runs, made("5.0", "True", fact=2)]) == {"fact": (FIXED, "")}


def test_what_is_as_it_was_at_first_needs_nothing() -> None:
    runs = [made("3.0", fact=1), made("4.0", fact=2), made("5.0", fact=1)]
    assert judged(runs) == {"fact": (BACK, "")}


def test_a_row_says_where_it_is_told_and_its_line_must_be_there() -> None:
    runs = [made("4.0", fact=1), made("5.0", fact=2)]
    row = Expected(["kind.*: fa*"], "it changed", told="the layer", says="write x=")
    with_line = made("5.0", "True", "patchkit: a.py:1: y is gone; write x=", fact=2)
    assert judged([*runs, with_line], row) == {"fact": (TOLD, "")}
    ((state, problem),) = judged([*runs, made("5.0", "True", fact=2)], row).values()
    assert state == TOLD
    assert problem == "no line of the layer has 'write x='"
    reason = Expected(["kind.program: fact"], "it changed", because="nobody reads it")
    assert judged(runs, reason) == {"fact": (NEITHER, "")}
    assert judged(runs, Expected(["other.*"], "", because="x")) == {"fact": (OPEN, "")}


def test_a_row_of_what_came_later_is_of_nothing_else() -> None:
    row = Expected(["*"], "new fields", because="nobody reads them", added=True)
    runs = [made("4.0", old=1), made("5.0", old=2, new=1)]
    assert judged(runs, row) == {"new": (NEITHER, ""), "old": (OPEN, "")}


def test_a_program_that_raised_says_nothing_of_what_it_did_not_come_to() -> None:
    raised = made("5.0", first=1, raised="TypeError: no")
    plain, _ = comparing.sorted_runs([made("4.0", first=1, second=2), raised])
    assert not list(comparing.changes(plain))
    assert list(comparing.raising(plain)) == ["kind.program: TypeError: no"]


def test_what_only_the_layer_has_is_shown() -> None:
    plain = [made("4.0", fact=1), made("5.0", fact=2)]
    layered = [made("5.0", "True", fact=3), made("5.0", "transformers==4.0", fact=1)]
    assert list(comparing.by_the_layer(plain, layered)) == [
        "kind.program: fact is 3 with the layer (True)"
    ]


def test_facts_have_types_shapes_and_keys_and_no_computed_digit() -> None:
    numpy = pytest.importorskip("numpy")
    value = {"ids": numpy.array([[1, 2]]), "loss": numpy.array([0.123]), "rate": 0.5}
    assert facts.flat(facts.of(value), "it") == {
        "it.(type)": "dict",
        "it.ids.(type)": "ndarray",
        "it.ids.dtype": "int64",
        "it.ids.shape": [1, 2],
        "it.ids.values": [[1, 2]],
        "it.loss.(type)": "ndarray",
        "it.loss.dtype": "float64",
        "it.loss.shape": [1],
        "it.rate": 0.5,
    }
    assert facts.of([True, None, ("a",), {"b"}]) == [
        *("list", 4, True, None),
        *(["tuple", 1, "a"], ["set", "b"]),
    ]
    assert facts.kind({"loss": 0.123, "none": None, "name": "x"}) == {
        "loss": "float",
        "none": None,
        "name": "x",
    }


def test_rows_of_the_table_are_of_programs_that_there_are() -> None:
    kinds = {path.stem.rstrip("_") for path in PROGRAMS.glob("*.py")}
    rows = comparing.expected()
    assert len(rows) > 30
    for row in rows:
        assert bool(row.told) != bool(row.because), row.what
        for glob in row.facts:
            assert glob.partition(".")[0] in kinds, glob


def test_the_command_shows_what_is_open(tmp_path: Path) -> None:
    for number, run in enumerate([made("4.0", fact=1), made("5.0", fact=2)]):
        (tmp_path / f"{number}.json").write_text(json.dumps(vars(run)))
    done = CliRunner().invoke(behaviour, [str(tmp_path), "--open"])
    assert done.exit_code == 0, done.output
    first, *_, last = done.output.splitlines()
    assert first == (
        "[open] kind.program: fact (transformers 4.0, trl 1.0.0 -> transformers 5.0, trl 1.0.0): 1 -> 2"
    )
    assert last.endswith("0 as before, 1 open")


def test_the_page_counts_and_leaves_nothing_open() -> None:
    text = (ROOT / "docs" / "behaviour.md").read_text(encoding="utf-8")
    begin, end = page.MARKS
    tables = text.partition(begin)[2].partition(end)[0]
    assert "and 0 are open" in tables
    for row in comparing.expected():
        assert f"| {row.what} |" in tables, row.what

"""The actions of the table are read in one place; everything else carries decisions out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from patchkit.legacy import changes
from patchkit.legacy.changes import Configure, Convert, Drop, Keyword, Rename, Value
from patchkit.legacy.converting.adjusting.command_lines import _flags
from patchkit.legacy.decisions import (
    UNKNOWN,
    Template,
    clash,
    decide,
    decide_value,
    other_way_round,
    undecided,
)

ROOT = Path(__file__).parents[2]
ACTIONS = {cls.__name__ for cls in get_args(changes.Action)}
IN_SOURCE = {cls.__name__ for cls in get_args(changes.InSource)}
READERS = {"patchkit/legacy/changes.py", "patchkit/legacy/decisions.py"}
IN_SCRIPTS = {
    "patchkit/legacy/changes.py",
    *(f"patchkit/legacy/converting/adjusting/{name}.py" for name in ("copies", "own_methods")),
    *(
        f"patchkit/modernize/python/{name}.py"
        for name in ("classes", "columns", "combinations", "configurations")
    ),
}


def sources() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("patchkit", "workbench", "docs_site"):
        for file in (ROOT / folder).rglob("*.py"):
            place = file.relative_to(ROOT).as_posix()
            if not place.startswith("patchkit/legacy/rows/"):
                yield place, ast.parse(file.read_text(encoding="utf-8"))


def taken_from_changes(tree: ast.Module) -> set[str]:
    """Return the names of `changes` that a module imports, or reads as attributes of it."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("changes"):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {node.attr} if node.value.id == "changes" else set()
    return found


def test_no_carrier_names_an_action() -> None:
    taken = {place: taken_from_changes(tree) for place, tree in sources()}
    assert {place for place, names in taken.items() if names & ACTIONS} <= READERS
    assert taken["patchkit/legacy/decisions.py"] & ACTIONS == ACTIONS
    assert {place for place, names in taken.items() if names & IN_SOURCE} <= IN_SCRIPTS


def test_actions_are_recognized_by_no_other_means() -> None:
    """No carrier asks a row for its action."""
    asking = {
        place
        for place, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "action"
        if isinstance(node.value, ast.Name) and node.value.id in {"row", "other", "changed"}
    }
    assert asking == {"patchkit/legacy/decisions.py"}


class Caller:
    """A call with nothing else in it."""

    def __init__(self, **arguments: object) -> None:
        self.arguments = dict(arguments)
        self.configuration = "SFTConfig"


def row(action: changes.Action) -> Keyword:
    return Keyword(owners=("trl.SFTTrainer",), name="old", action=action, gone="trl 1.0.0")


def test_a_value_that_is_not_known_is_put_into_a_template() -> None:
    told = decide(row(Convert("new", lambda value, call: {"new": 1}, written="int({value})")))
    assert isinstance(told.arguments["new"], Template)
    assert told.arguments["new"].source == "int({value})"
    given_too = decide(
        row(Convert("new", lambda value, call: {}, written="{value}")), UNKNOWN, Caller(new=3)
    )
    assert given_too.undecided
    assert not given_too.arguments
    assert decide(row(Drop("none", unless=bool, instead="Do that."))).undecided.startswith(
        "Do that."
    )
    assert undecided(row(Rename("new"))).undecided


def test_what_is_refused_depends_on_the_value() -> None:
    drop = row(Drop("nothing reads it", unless=bool, instead="Do that."))
    assert decide(drop, True).refusal == "Do that."
    assert decide(drop, False).because == "nothing reads it"
    switched = row(Drop("no", unless=bool, instead="Do that.", switches=("x", "y")))
    assert decide(switched, True, Caller(x=False)).because == "no"
    for given in ({}, {"x": True}, {"x": UNKNOWN}, {"x": False, "y": True}):
        assert decide(switched, True, Caller(**given)).refusal == "Do that."
    assert decide(row(Configure("new")), None, Caller()).settings == {}
    assert decide(row(Configure("new")), 0, Caller()).settings == {"new": 0}


@pytest.mark.parametrize(
    ("value", "present", "agree"),
    [
        (1, None, True),
        (None, 1, True),
        (1, 1, True),
        ("a", "a", True),
        (1, 2, False),
        (1, True, False),
    ],
)
def test_two_keywords_that_mean_the_same(value: object, present: object, agree: bool) -> None:
    assert bool(clash("new", value, present)) is not agree


def test_values_in_a_list() -> None:
    known = Value(owners=("a.B",), name="to", value="old", to="new", gone="a 1.0.0")
    told = decide_value(known, ["x", "old"])
    assert told is not None
    assert told.arguments == {"to": ["x", "new"]}
    assert decide_value(known, ["x"]) is None


def test_only_what_means_the_same_can_be_turned_round() -> None:
    turned = other_way_round(row(Rename("new")))
    assert turned is not None
    assert (turned.name, decide(turned).to, turned.early) == ("new", "old", True)
    assert other_way_round(row(Drop("nothing reads it"))) is None


def test_a_dictionary_on_a_command_line_is_json() -> None:
    assert _flags({"fsdp_config": {"wrap": ["Block"]}, "optim": ["a", 1], "none": None}) == [
        *("--fsdp_config", '{"wrap": ["Block"]}'),
        *("--optim", "a", "1"),
    ]

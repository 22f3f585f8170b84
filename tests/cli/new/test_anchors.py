"""The pattern that is filled in finds one place of the function, whatever that is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from patchkit import UsageError
from patchkit.cli.new import subject
from patchkit.cli.new.drafting import NoSiteChosen, draft
from patchkit.cli.new.texts import patch_file
from patchkit.rewrite import Pattern, find

from .conftest import line_of

INIT = "madeup.trainer:Trainer.__init__"


def site(target: str = INIT, **options: Any) -> Any:
    found = subject.find(target)
    return draft("madeup-bug", found, **options).site, found.definitions[0]


#: What is asked for, the pattern, how often it stands there, and the names in compiled code.
ANCHORS: dict[str, tuple[dict[str, Any], str, int, tuple[str, ...]]] = {
    "a call in an assignment": (
        {"line": line_of("math.floor")},
        "math.floor(size / scale)",
        1,
        ("math", "floor"),
    ),
    "a call with arguments": (
        {"line": line_of("math.fsum([size")},
        "math.fsum([size, scale])",
        1,
        ("math", "fsum"),
    ),
    "the test of an if": ({"line": line_of("size > 1000")}, "size > 1000 and (not rest)", 1, ()),
    "what a loop runs over": ({"line": line_of("for each")}, "range(size)", 1, ("range",)),
    "an assignment of a name": (
        {"line": line_of("self.size = size")},
        "self.size = size",
        1,
        ("size",),
    ),
    "a statement that stands twice": ({"line": line_of("total * 2")}, "total = total * 2", 2, ()),
    "in a function inside": (
        {"line": line_of("math.sqrt")},
        "math.sqrt(number) + self.size",
        1,
        ("math", "sqrt", "size"),
    ),
    "text with braces and quotes": (
        {"line": line_of("curly")},
        "self.name = \"a {curly} \\\\ 'quoted'\"",
        1,
        ("name",),
    ),
    "an expression": ({"find": "math.sqrt(number)"}, "math.sqrt(number)", 1, ("math", "sqrt")),
    "an expression with a hole": ({"find": "math.sqrt(N)"}, "math.sqrt(N)", 1, ("math", "sqrt")),
    "a statement": ({"find": "self.size = size"}, "self.size = size", 1, ("size",)),
    "a part of a statement": (
        {"find": "each.__class__("},
        "each.__class__(each)",
        1,
        ("__class__",),
    ),
    "a part, spelled otherwise": (
        {"find": "[ size ,scale"},
        "math.fsum([size, scale])",
        1,
        ("math", "fsum"),
    ),
    "a part of an if": ({"find": "1000 and not"}, "size > 1000 and (not rest)", 1, ()),
}


@pytest.mark.parametrize("case", ANCHORS)
def test_anchor(madeup, case: str) -> None:
    given, pattern, sites, names = ANCHORS[case]
    found, source = site(**given)
    assert (found.pattern, found.sites) == (pattern, sites)
    assert set(found.names) == set(names)
    assert len(list(find(source.node, Pattern(found.pattern)))) == sites


def test_a_long_anchor_stands_as_it_is(madeup) -> None:
    found, source = site("madeup.trainer:long", line=line_of("number.fifth"))
    assert found.pattern.endswith("number.the_third_one, number.fourth, number.fifth])")
    assert len(list(find(source.node, Pattern(found.pattern)))) == 1


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a line outside": (
        INIT,
        {"line": 1},
        r"Trainer.__init__ is in lines 13 to \d+ of madeup/trainer",
    ),
    "a blank line": (INIT, {"line": line_of("def inner") - 1}, "the nearest are at"),
    "the signature": (INIT, {"line": line_of("*rest")}, "the nearest are at"),
    "no such code": (INIT, {"find": "torch.bfloat16"}, "has no such code: 'torch.bfloat16'"),
    "code that stands often": (
        INIT,
        {"find": "size"},
        r"occurs \d+ times in Trainer.__init__, at lines",
    ),
    "no code": (INIT, {"find": "  "}, "has no such code"),
    "both": (INIT, {"find": "size", "line": 17}, "exclude each other"),
    "a wrap at a line": (INIT, {"wrap": True, "line": 17}, "exclude each other"),
    "two definitions": (
        "madeup.trainer:branch",
        {"find": "number +"},
        r"is defined at lines \d+, \d+; choose",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_names_no_site(madeup, case: str) -> None:
    target, given, message = REFUSED[case]
    with pytest.raises(UsageError, match=message) as caught:
        site(target, **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("number", "text"), [("1", "number + 1"), ("2", "number + 2")])
def test_a_line_tells_definitions_apart(madeup, number: str, text: str) -> None:
    found, _ = site("madeup.trainer:branch", line=line_of(text))
    assert found.pattern == f"number + {number}"
    assert site("madeup.trainer:branch", find=text)[0].pattern == text


def test_statements_are_listed_where_none_is_chosen(madeup) -> None:
    with pytest.raises(NoSiteChosen) as caught:
        site()
    lines = [line for line, _ in caught.value.statements]
    assert lines == sorted(lines)
    assert {line_of("self.size = size"), line_of("math.sqrt")} <= set(lines)
    assert line_of('"""Begin') not in lines


def test_of_a_long_function_those_that_speak_of_precision(madeup) -> None:
    body = "".join(f"    number = number + {n}\n" for n in range(40))
    madeup.write("more", f"def f(number):\n{body}    number = number.to('float16')\n")
    with pytest.raises(NoSiteChosen, match="those that mention precision") as caught:
        site("madeup.more:f")
    assert [code for _, code in caught.value.statements] == ["number = number.to('float16')"]


TARGETS = {
    "madeup.trainer.Trainer": "a target reads 'package.module:Class.method'",
    "madeup.*:Trainer.__init__": "names one function",
    "madeup.trainer:Trainer.__init__.<locals>.inner": "names the outermost function, madeup.trainer:Trainer.__init__",
    "madeup.trainr:Trainer.__init__": "no module madeup.trainr; did you mean madeup.trainer",
    "madeup.trainer:Trainr.__init__": "defines no Trainr.__init__; did you mean Trainer.__init__",
    "madeup.trainer:Trainer.__int__": "did you mean Trainer.__init__? Trainer may inherit it from Base; name the class that does",
    "madeup.trainer:Trainer.xyz": "defines no Trainer.xyz. Trainer may inherit it",
    "madeup.trainer:Base.lgo": "did you mean Base.log?",
    "madeup.trainer:Trainer": "Trainer is a class; name a method: Trainer.__init__, Trainer.half",
    "madeup.again:Trainer.__init__": "but madeup.trainer:Trainer.__init__ does",
    "no_such_thing:f": "there is no package no_such_thing installed here",
    "math:floor": "has no Python source",
    "json:dumps": "the package json belongs to no installed distribution",
}


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_no_target(madeup, target: str) -> None:
    with pytest.raises(UsageError) as caught:
        subject.find(target)
    assert TARGETS[target] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_library_is_not_imported(madeup) -> None:
    import sys

    site(line=line_of("math.floor"))
    assert "madeup" not in sys.modules


@pytest.mark.parametrize("version", ["1.2.0", "1.2.0+cpu", "1.3.0rc1"])
def test_the_range_begins_with_what_is_installed(madeup, version: str) -> None:
    madeup.release(version)
    begun = draft("madeup-bug", subject.find(INIT), wrap=True)
    assert (begun.library, begun.since) == ("madeup", version.partition("+")[0])
    assert begun.parameters == ("size", "scale")
    assert Path(begun.target.module).name == "madeup.trainer"


FUNCTIONAL = """
import math as F

def f(row, B):
    row = F.floor(row)
    return math.floor(row) + F.ceil(B)
"""


@pytest.mark.parametrize(
    ("given", "literal", "holes"),
    [
        ({"line": 5}, ("F",), {}),
        ({"find": "F.floor(row)"}, ("F",), {}),
        ({"find": "F.floor(R)"}, ("F",), {"R": "row"}),
        ({"find": "F.ceil(B)"}, ("B", "F"), {}),
        ({"find": "A.ceil(B)"}, ("B",), {"A": "F"}),
        # It cannot be the name here, so it is a hole.
        ({"find": "B.ceil(N)"}, (), {"B": "F", "N": "B"}),
    ],
)
def test_a_letter_that_the_function_has_as_a_name(madeup, given, literal, holes) -> None:
    madeup.write("functional", FUNCTIONAL)
    found, source = site("madeup.functional:f", **given)
    pattern = Pattern(found.pattern, literal=found.literal)
    assert (found.literal, found.sites) == (literal, 1)
    (node,) = find(source.node, pattern)
    assert pattern.holes(node) == holes


def test_what_is_written_of_such_a_letter(madeup) -> None:
    madeup.write("functional", FUNCTIONAL)
    drafted = draft("madeup-bug", subject.find("madeup.functional:f"), find="F.floor(R)")
    text = patch_file(drafted)
    assert 'SITE = Pattern("F.floor(R)", literal=("F",))' in text
    assert """return [replace(site, f"F.floor({code['R']})")]""" in text

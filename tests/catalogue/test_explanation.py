"""What is said of a patch, read off its definition and its docstring; and which know an error."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.catalogue.entries import Entry
from patchkit.catalogue.explanation import explain
from patchkit.known.answering import entries_with_symptom
from patchkit.known.reading import read
from patchkit.patch import Patch, Rewrite, Wrap
from patchkit.rewrite import Pattern, Rule, replace
from patchkit.settings import Setting

RULE = Rule(Pattern("bug()"), lambda node: [replace(node, "1")])
SHIPPED = {entry.patch.id: entry for entry in catalogue.load() if ".patches." in entry.module}


def entry(monkeypatch: Any, docstring: str | None = None, **options: Any) -> Entry:
    module = ModuleType("madeup_patch", docstring)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    given = {
        "id": "madeup-bug",
        "title": "it is fixed",
        "affects": {"madeup": ">=1", "other": "<3"},
        "changes": (
            Rewrite("madeup.a:f", RULE, affects="<2"),
            Wrap("madeup.b:C.g", "madeup_patch.helpers:around"),
        ),
    }
    return Entry(Patch(**{**given, **options}), module.__name__, None)


DOCSTRINGS = {
    "all three": ("The bug.\n\nMore of\nit.\n\nAnd more.\n\nFix: so.\n\nThen so.", 3 * ("x",)),
    "indented": ("\n    The bug.\n\n    More.\n\n    Fix: so.\n    ", 3 * ("x",)),
    "no fix": ("The bug.\n\nMore.", ("x", "x", "")),
    "a headline of two lines": ("The\n  bug.\n\nFix: so.", ("x", "", "x")),
    "a headline": ("The bug.", ("x", "", "")),
    "empty": ("", ("", "", "")),
    "none": (None, ("", "", "")),
    "no fix in so many words": ("The bug.\n\nMore.\n\nNo fix: so.", ("x", "x", "x")),
}


@pytest.mark.parametrize("case", DOCSTRINGS)
def test_docstrings(monkeypatch, case: str) -> None:
    docstring, present = DOCSTRINGS[case]
    one = explain(entry(monkeypatch, docstring))
    assert (bool(one.headline), bool(one.bug), bool(one.fix)) == tuple(map(bool, present))
    assert one.headline in ("The bug.", "")
    assert one.bug in ("More of\nit.\n\nAnd more.", "More.", "")
    assert one.fix in ("so.\n\nThen so.", "so.", "")


@pytest.mark.parametrize(
    ("docstring", "fix", "why"),
    [
        ("The bug.\n\nFix: so.\n\nThen so.", "so.\n\nThen so.", ""),
        ("The bug.\n\nFix: so.\n\nWhy: it is\nquick.", "so.", "it is\nquick."),
        ("The bug.\n\nFix: so.\n\nWhy: quick.\n\n- and\n- sure", "so.", "quick.\n\n- and\n- sure"),
        ("The bug.\n\nWhy: nobody knows.\n\nFix: so.", "so.", ""),  # reasons of the bug
    ],
)
def test_reasons_follow_the_fix(monkeypatch, docstring: str, fix: str, why: str) -> None:
    one = explain(entry(monkeypatch, docstring))
    assert (one.fix, one.why) == (fix, why)


def test_a_module_that_is_gone(monkeypatch) -> None:
    one = entry(monkeypatch, "The bug.")
    monkeypatch.delitem(sys.modules, one.module)
    assert explain(one).headline == ""


def test_what_is_changed(monkeypatch) -> None:
    rewritten, wrapped = explain(entry(monkeypatch)).targets
    assert (rewritten.target, rewritten.how, rewritten.affects) == ("madeup.a:f", "rewritten", "<2")
    assert (wrapped.target, wrapped.how, wrapped.affects) == (
        "madeup.b:C.g",
        "wrapped by madeup_patch.helpers.around",
        "",
    )


def test_what_can_be_chosen_and_switched_off(monkeypatch) -> None:
    setting = Setting("madeup_cast", ("off", "on"), "whether")
    one = explain(entry(monkeypatch, settings=(setting,)))
    assert one.to_dict()["settings"] == [
        {
            "name": "madeup_cast",
            "choices": ("off", "on"),
            "help": "whether",
            "variable": "PATCHKIT_MADEUP_CAST",
        }
    ]
    assert one.switch_off == (
        'patchkit.apply(exclude="madeup-bug")',
        "PATCHKIT_DISABLE=madeup-bug",
        "patchkit run --exclude madeup-bug -- python train.py",
        'patchkit.revert(only="madeup-bug")',
    )
    assert one.switch_on == ()


def test_what_is_asked_for(monkeypatch) -> None:
    asked = entry(monkeypatch, opt_in="lookout")
    assert explain(asked).switch_off[0] == "patchkit.apply(lookout=False)"
    assert explain(asked).switch_on == (
        "patchkit.apply(lookout=True)",
        "PATCHKIT_LOOKOUT=1",
        "patchkit run --opt-in lookout -- python train.py",
        'patchkit.apply(only="madeup-bug")',
    )
    mine = asked._replace(file="/mine/a look.py")
    command = "patchkit run --patches '/mine/a look.py' --opt-in lookout -- python train.py"
    assert command in explain(mine).switch_on


@pytest.mark.parametrize("patch_id", SHIPPED)
def test_shipped_patches_say_it_all(patch_id: str) -> None:
    one = explain(SHIPPED[patch_id])
    for text in (one.headline, one.bug, one.fix):
        assert text
        assert "Fix:" not in text
        assert "Why:" not in text
    assert one.headline.endswith(".")
    assert "\n" not in one.headline
    assert one.targets
    json.dumps(one.to_dict())


def known(monkeypatch: Any) -> list[Entry]:
    return [
        entry(
            monkeypatch, id="a-a", symptom="big|small", messages=("a big bang in the line of work",)
        ),
        entry(monkeypatch, id="b-b", symptom="work", messages=("the line of work",)),
        entry(monkeypatch, id="c-c", symptom="silent"),
        entry(monkeypatch, id="d-d"),
        entry(
            monkeypatch,
            id="e-e",
            symptom="for 'BFloat16'",
            messages=("\"foreach\" not implemented for 'BFloat16'",),
        ),
    ]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("RuntimeError: A big bang in the line of work 7", ["a-a"]),
        ("a lot before\na big\n  bang in\tTHE line of\n work\nand after", ["a-a", "b-b"]),
        ("A big bang in the line", ["a-a"]),
        ("g bang in the line of w", ["a-a"]),
        ("g bang", []),
        ("Big", ["a-a"]),  # by symptom, since no message has it
        ("it was Silent then", ["c-c"]),
        ("nothing of it", []),
        ("foreach not implemented for BFloat16", ["e-e"]),
        ("\u201cforeach\u201d not implemented for `BFloat16`", ["e-e"]),
    ],
)
def test_who_knows_an_error(monkeypatch, text: str, ids: list[str]) -> None:
    entries = known(monkeypatch)
    assert [entry.patch.id for entry in entries_with_symptom(read(text), entries)] == ids


def test_shipped_patches_are_found_by_their_messages() -> None:
    for entry in SHIPPED.values():
        for message in entry.patch.messages:
            assert entry in entries_with_symptom(
                read(f"Traceback:\n  x\nError: {message} x"), SHIPPED.values()
            )


LINE = '  File "/x/site-packages/{}/a.py", line 7, in forward\n'
OWN = '  File "/home/someone/train.py", line 7, in step\n'
RESHAPED = "RuntimeError: shape '[2, 64]' is invalid for input of size 7"
JOINED = "RuntimeError: Sizes of tensors must match except in dimension 0. Expected size 2 but got size 1"
NONE = "AttributeError: 'NoneType' object has no attribute 'unsqueeze'"


@pytest.mark.parametrize(
    ("text", "blamed"),
    [
        (LINE.format("peft") + RESHAPED, "peft-packed-base"),
        (LINE.format("transformers") + RESHAPED, ""),
        (OWN + RESHAPED, ""),
        (RESHAPED, ""),
        ("is invalid for input of size", "peft-packed-base"),
        (LINE.format("bitsandbytes") + NONE, "bitsandbytes-8bit-scales"),
        (LINE.format("transformers") + OWN + NONE, ""),
        (NONE, ""),
        (LINE.format("transformers") + JOINED, ""),
        (JOINED, ""),
        ("RuntimeError: expecting query weights shape of 3", "transformers-packed-bytes"),
        ("RuntimeError: not expecting query weights shape of 3", ""),
    ],
)
def test_no_patch_is_blamed_for_what_others_say_too(text: str, blamed: str) -> None:
    found = [entry.patch.id for entry in entries_with_symptom(read(text), SHIPPED.values())]
    assert blamed in found if blamed else not found

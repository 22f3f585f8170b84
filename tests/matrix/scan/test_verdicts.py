"""What a scan says of one patch in one made-up release."""

from __future__ import annotations

from typing import Any

import pytest

from patchkit.patch import Rewrite, Wrap
from patchkit.rewrite import Pattern, Rule, replace

from .conftest import RULE, TARGET, patch

TRAINER = "class Trainer:\n    def run(self):\n        return bug()\n"
FIXED = TRAINER.replace("bug", "fixed")
NEW_TRAINER = TRAINER + "\n\nclass NewTrainer:\n    def run(self):\n        return bug()\n"
WRAP = Wrap(TARGET, "m:wrapper", parameters=("self", "steps"))
NEEDS_TORCH = Rule(RULE.site, RULE.edit, RULE.names, needs=("torch",))
LEAVES = Rule(RULE.site, lambda node: [replace(node, "0 or bug()")], RULE.names)
RAISES = Rule(RULE.site, lambda node: 1 // 0, RULE.names)  # type: ignore[arg-type,return-value]
NO_SYNTAX = Rule(RULE.site, lambda node: [replace(node, "1 +")], RULE.names)
EVERYWHERE = Rewrite("madeup.*:*.run", RULE)

Case = tuple[Any, str, str, str]
"""A patch, the text of `madeup.trainer`, and the state and the note that are expected."""

CASES: dict[str, Case] = {
    "as expected": (patch(), TRAINER, "matches", ""),
    "fixed upstream": (
        patch(),
        FIXED,
        "drifted",
        f"{TARGET}: expected 1 occurrence of the buggy code, found 0",
    ),
    "altered by hand": (
        patch(),
        TRAINER.replace("bug()", "bug(1)"),
        "drifted",
        "expected 1 occurrence",
    ),
    "two sites": (
        patch(),
        TRAINER.replace("bug()", "bug() + bug()"),
        "drifted",
        f"{TARGET}: expected 1 occurrence of the buggy code, found 2",
    ),
    "two sites known": (
        patch(Rewrite(TARGET, RULE, sites=2)),
        TRAINER.replace("bug()", "bug() + bug()"),
        "matches",
        "",
    ),
    "any number": (patch(Rewrite(TARGET, RULE, sites=None)), TRAINER, "matches", ""),
    "any number but none": (
        patch(Rewrite(TARGET, RULE, sites=None)),
        FIXED,
        "drifted",
        "expected at least 1 occurrence of the buggy code",
    ),
    "method gone": (patch(), "class Trainer: ...\nbug()", "drifted", "Trainer does not define run"),
    "class gone": (patch(), "def bug(): ...", "drifted", f"{TARGET}: Trainer is missing"),
    "class imported": (
        patch(),
        "from x import Trainer",
        "drifted",
        "no class that is defined there",
    ),
    "inside a function": (
        patch(),
        "class Trainer:\n    def run(self):\n        def f():\n            return bug()\n",
        "matches",
        "",
    ),
    "under an if": (
        patch(),
        "if x:\n    class Trainer:\n        def run(self): bug()\n",
        "matches",
        "",
    ),
    "in a branch of a match": (
        patch(),
        "match x:\n    case 1:\n        class Trainer:\n            def run(self): bug()\n",
        "matches",
        "",
    ),
    "what does not compile": (
        patch(),
        "class Trainer:\n    def run(self):\n        nonlocal nowhere\n        return bug()\n",
        "drifted",
        "the function cannot be compiled on its own",
    ),
    "a name in a comment only": (
        patch(Rewrite(TARGET, Rule(RULE.site, RULE.edit, ("bug", "torch")))),
        TRAINER.replace("return", "# torch\n        return"),
        "drifted",
        "its code does not mention bug, torch",
    ),
    "a class in a class": (
        patch(Rewrite("madeup.*:*.*.run", RULE)),
        "class Outer:\n    class Trainer:\n        def run(self): bug()\n",
        "drifted",
        "its wildcards match no function",
    ),
    "a nonlocal": (
        patch(),
        "class Trainer:\n    def run(self):\n        n = 1\n        def f():\n            nonlocal n\n"
        "            n = bug()\n",
        "matches",
        "",
    ),
    "lacks torch": (
        patch(Rewrite(TARGET, NEEDS_TORCH)),
        TRAINER,
        "drifted",
        "madeup.trainer does not import torch any more",
    ),
    "has torch": (patch(Rewrite(TARGET, NEEDS_TORCH)), f"import torch\n{TRAINER}", "matches", ""),
    "has all": (patch(Rewrite(TARGET, NEEDS_TORCH)), f"from x import *\n{TRAINER}", "matches", ""),
    "postcondition": (patch(Rewrite(TARGET, LEAVES)), TRAINER, "drifted", "leaves buggy code"),
    "edit raises": (patch(Rewrite(TARGET, RAISES)), TRAINER, "drifted", "ZeroDivisionError"),
    "edit does not parse": (
        patch(Rewrite(TARGET, NO_SYNTAX)),
        TRAINER,
        "drifted",
        "does not parse",
    ),
    "does not parse": (patch(), TRAINER + "def (", "drifted", "the module was not read"),
    "not UTF-8": (patch(), f"# coding: no-such\n{TRAINER}", "drifted", "the module was not read"),
    "wildcard": (patch(EVERYWHERE), NEW_TRAINER, "matches", ""),
    "wildcard finds nothing": (
        patch(EVERYWHERE),
        FIXED,
        "drifted",
        "its wildcards match no function",
    ),
    "wildcard finds two": (
        patch(EVERYWHERE),
        TRAINER.replace("bug()", "bug() + bug()"),
        "drifted",
        "found 2",
    ),
    "wildcard without torch": (
        patch(Rewrite("madeup.*:*.run", NEEDS_TORCH)),
        TRAINER,
        "drifted",
        "its wildcards match no function",
    ),
    "no such module": (
        patch(Rewrite("madeup.gone:f", RULE)),
        FIXED,
        "drifted",
        "there is no module madeup.gone",
    ),
    "wrap": (patch(WRAP), "class Trainer:\n    def run(self, *, steps): ...\n", "matches", ""),
    "wrap of another signature": (
        patch(WRAP),
        TRAINER,
        "drifted",
        f"{TARGET}: Trainer.run has no parameter steps any more",
    ),
    "wrap of nothing": (
        patch(WRAP),
        "class Trainer: ...",
        "drifted",
        "Trainer does not define run",
    ),
    "wrap of a property": (
        patch(WRAP),
        "class Trainer:\n    @property\n    def run(self): ...\n",
        "drifted",
        "Trainer.run is a property, not callable",
    ),
    "absent": (patch(affects=">=2"), FIXED, "absent", ""),
    "present": (patch(affects=">=2"), TRAINER, "present", f"{TARGET} has the bug"),
    "wrap not due": (patch(WRAP, affects=">=2"), TRAINER, "no-anchor", ""),
    "harmless": (patch(affects=">=2", harmless={TARGET: "<2"}), TRAINER, "harmless", ""),
    "harmless by wildcards": (
        patch(affects=">=2", harmless={"madeup.*:*Trainer.*": ""}),
        NEW_TRAINER,
        "harmless",
        "",
    ),
    "harmless by the second of two": (
        patch(affects=">=2", harmless={"madeup.*:*.*": ">=3", TARGET: "<3"}),
        TRAINER,
        "harmless",
        "",
    ),
    "harmless in other releases": (
        patch(affects=">=2", harmless={TARGET: ">=2"}),
        TRAINER,
        "present",
        f"{TARGET} has the bug",
    ),
    "harmless elsewhere": (
        patch(affects=">=2", harmless={"madeup.other:*": ""}),
        TRAINER,
        "present",
        f"{TARGET} has the bug",
    ),
    "change not due": (
        patch(Rewrite(TARGET, RULE, affects=">=2"), Rewrite("madeup.trainer:f", RULE)),
        f"{TRAINER}\ndef f(): bug()\n",
        "present",
        f"not claimed there, but {TARGET} has the bug",
    ),
    "change not due, covered by a wildcard": (
        patch(Rewrite(TARGET, RULE, affects=">=2"), EVERYWHERE),
        TRAINER,
        "matches",
        "",
    ),
    "no change due": (patch(Rewrite(TARGET, RULE, affects=">=2")), FIXED, "absent", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_state(scanned_module, case: str) -> None:
    one, text, state, note = CASES[case]
    found = scanned_module(text, one)
    assert found.states == {"madeup-bug": state}, found
    assert note in found.notes.get("madeup-bug", "")
    assert bool(note) == ("madeup-bug" in found.notes)
    assert found.problem == ""


NEW = "madeup.trainer:NewTrainer.run"
UNLISTED: dict[str, tuple[Any, list[str]]] = {
    "due": (patch(), [NEW]),
    "not due": (patch(affects=">=2"), [NEW]),
    "named by a wildcard": (patch(Rewrite(TARGET, RULE), EVERYWHERE), []),
    "wildcard of another module": (
        patch(Rewrite(TARGET, RULE), Rewrite("madeup.x:*.run", RULE)),
        [NEW],
    ),
    "harmless": (patch(harmless={NEW: ""}), []),
    "lacks torch": (patch(Rewrite("madeup.trainer:f", NEEDS_TORCH)), []),
    "by another rule": (
        patch(
            Rewrite(TARGET, RULE),
            Rewrite("madeup.*:*.run", Rule(Pattern("other()"), RULE.edit, names=("other",))),
        ),
        [NEW],
    ),
    "a rule of any number of sites": (patch(Rewrite(TARGET, RULE, sites=None)), [NEW]),
}


@pytest.mark.parametrize("case", UNLISTED)
def test_sites_in_places_that_no_change_names(scanned_module, case: str) -> None:
    one, expected = UNLISTED[case]
    assert scanned_module(NEW_TRAINER, one).unlisted.get("madeup-bug", []) == expected


def test_a_rule_of_any_number_of_sites_is_looked_for_only_where_a_target_may_be(
    scanned_module,
) -> None:
    elsewhere = {"other": "def f():\n    bug()\n"}
    found = scanned_module(TRAINER, patch(Rewrite(TARGET, RULE, sites=None)), **elsewhere)
    assert found.unlisted == {}
    assert scanned_module(TRAINER, patch(), **elsewhere).unlisted == {
        "madeup-bug": ["madeup.other:f"]
    }


def test_a_file_that_cannot_be_parsed_is_named_and_the_others_are_read(scanned_module) -> None:
    found = scanned_module(TRAINER, other="bug() = 1\n", unconcerned="def (")
    assert found.states == {"madeup-bug": "matches"}
    assert found.notes["*"].startswith("madeup.other was not read: Python 3.")
    assert "unconcerned" not in found.notes["*"]

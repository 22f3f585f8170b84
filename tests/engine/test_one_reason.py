"""`apply`, `diff` and the scan give the same reason why a function does not fit."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from patchkit import PatchWarning
from patchkit.matrix.preview import preview
from patchkit.matrix.scan.facts import facts
from patchkit.matrix.scan.questions import Questions
from patchkit.matrix.scan.verdicts import verdict
from patchkit.patch import Rewrite, Status, Wrap
from patchkit.rewrite import Edit, Pattern, Rule, replace

from ..madeup_bug import patch
from .conftest import double

SOURCE = """\
class Trainer:
    def step(self, size=1):
        return bug(), bug()

    def other(self):
        return None


def bug():
    return 1
"""
TARGET = "madeup.trainer:Trainer.step"
SITE = Pattern("bug()")


def fixed(site: ast.AST) -> list[Edit]:
    return [replace(site, "'fixed'")]


def fails(site: ast.AST) -> list[Edit]:
    raise ValueError("this shape is new")


DRIFTS: dict[str, Any] = {
    "none": (
        Rewrite("madeup.trainer:Trainer.other", Rule(SITE, fixed)),
        "expected 1 occurrence of the buggy code in Trainer.other, found 0",
    ),
    "none of any number": (
        Rewrite("madeup.trainer:Trainer.other", Rule(SITE, fixed), sites=None),
        "expected at least 1 occurrence of the buggy code in Trainer.other, found 0",
    ),
    "none, and no torch": (
        Rewrite("madeup.trainer:Trainer.other", Rule(SITE, fixed, needs=("torch",))),
        "expected 1 occurrence of the buggy code in Trainer.other, found 0",
    ),
    "too many": (
        Rewrite(TARGET, Rule(SITE, fixed)),
        "expected 1 occurrence of the buggy code in Trainer.step, found 2",
    ),
    "too few": (
        Rewrite(TARGET, Rule(SITE, fixed), sites=3),
        "expected 3 occurrences of the buggy code in Trainer.step, found 2",
    ),
    "no torch": (
        Rewrite(TARGET, Rule(SITE, fixed, needs=("torch", "math")), sites=2),
        "madeup.trainer does not import torch, math any more",
    ),
    "no edit": (
        Rewrite(TARGET, Rule(SITE, fails), sites=2),
        "the buggy code in Trainer.step at line 3 cannot be edited: ValueError: this shape is new",
    ),
    "no edit, and no torch": (
        Rewrite(TARGET, Rule(SITE, fails, needs=("torch",)), sites=2),
        "the buggy code in Trainer.step at line 3 cannot be edited: ValueError: this shape is new",
    ),
    "the edit leaves it": (
        Rewrite(TARGET, Rule(SITE, lambda site: [replace(site, "abs(bug())")]), sites=2),
        "the edit leaves buggy code behind, at line 3: what it puts there still has 'bug()'. Let "
        "the pattern begin further out, with the call or the statement around, or change what the "
        "pattern finds",
    ),
    "no parameter": (
        Wrap(TARGET, double, parameters=("size", "shape")),
        "Trainer.step has no parameter shape any more",
    ),
}


@pytest.mark.parametrize("case", DRIFTS)
def test_one_reason(library, session, apply, case: str) -> None:
    change, reason = DRIFTS[case]
    drifting = patch("madeup-bug", change)
    library.write("trainer", SOURCE)

    module = "madeup.trainer"
    questions = Questions([drifting])
    modules = {module: facts(module, SOURCE.encode(), questions)}
    scanned = verdict(drifting, "1.2.0", modules, questions)
    foretold = preview(drifting)

    library.load("trainer")
    with pytest.warns(PatchWarning):
        record = apply(session(drifting))["madeup-bug"]

    assert (record.status, record.reason) == (Status.DRIFTED, reason)
    # These two begin with the target, so its name is not said again.
    qualname = change.target.partition(":")[2]
    note = f"{change.target}: {reason.replace(f'buggy code in {qualname},', 'buggy code,')}"
    assert scanned.state == "drifted"
    assert scanned.notes == [note]
    assert foretold.drift == (note,)
    assert foretold.differences == ()

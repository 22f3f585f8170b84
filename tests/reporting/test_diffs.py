"""The diffs of a report: what was changed, or would be."""

from __future__ import annotations

import warnings

import pytest

from patchkit.matrix.preview import preview
from patchkit.patch import Patch, Rewrite, Status, Wrap

from ..madeup_bug import BUG, SOURCE, TARGET, patch
from .conftest import passing

DIFF = """\
--- madeup/trainer.py
+++ <patchkit>/madeup/trainer.py
@@ -2,5 +2,5 @@
     def __init__(self):
         self.before = 1
-        self.value = bug()
+        self.value = 'fixed'
         self.after = 2
 
"""  # noqa: W293


@pytest.mark.parametrize("state", ["available", "pending", "applied", "disabled", "overridden"])
def test_diff(library, session, apply, state: str) -> None:
    one = session(patch())
    if state in ("applied", "overridden"):
        library.load("trainer")
    if state != "available":
        apply(one, exclude="madeup-bug" if state == "disabled" else None)
    if state == "overridden":
        library.load("trainer").Trainer.__init__ = passing
    record = one.report()["madeup-bug"]
    assert record.status == state
    assert record.diff() == DIFF


@pytest.mark.parametrize(
    ("name", "affects"), [("madeup", ">=2"), ("madeup", "<1.2"), ("no-such-thing", "")]
)
def test_no_diff_of_what_is_not_due(library, session, apply, name: str, affects: str) -> None:
    one = session(
        Patch(id="a-a", title="x", affects={name: affects}, changes=(Rewrite(TARGET, BUG),))
    )
    assert one.report()["a-a"].diff() == ""
    apply(one)
    assert one.report()["a-a"].diff() == ""


def test_no_diff_of_a_change_that_is_not_due(library, session) -> None:
    due, later = Rewrite(TARGET, BUG), Rewrite("madeup.trainer:later", BUG, affects=">=2")
    wrapped_later = Wrap("madeup.trainer:Trainer.step", passing, affects=">=2")
    library.write("trainer", SOURCE + "\n\ndef later():\n    return bug()\n")
    one = session(patch("madeup-bug", due, later, wrapped_later))
    assert one.report()["madeup-bug"].diff() == DIFF


SHAPES = {
    "two in one file": (
        ("madeup.trainer:Trainer.__init__", "madeup.trainer:other"),
        {"trainer": SOURCE + "\n\ndef other():\n    return bug()\n"},
        2,
    ),
    "two files": (
        ("madeup.one:f", "madeup.two:f"),
        {"one": "def f():\n    return bug()\n", "two": "\n\n\n\n\n\ndef f():\n    return bug()\n"},
        2,
    ),
    "a glob": (
        ("madeup.*_work:*.f",),
        {
            "a_work": "class A:\n    def f(self):\n        return bug()\n",
            "b_work": "class B:\n    def f(self):\n        return 1\n",
        },
        1,
    ),
    "a package": (("madeup.pack:f",), {"pack.__init__": "def f():\n    return bug()\n"}, 1),
    "decorated": (
        ("madeup.one:f",),
        {"one": "import functools\n\n@functools.cache\ndef f():\n    return bug()\n"},
        1,
    ),
    "found twice": (("madeup.one:f", "madeup.*:f"), {"one": "def f():\n    return bug()\n"}, 1),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_diff_foretold_is_the_diff_made(library, session, apply, shape: str) -> None:
    targets, files, changed = SHAPES[shape]
    for name, source in files.items():
        library.write(name, source)
    one = session(patch("madeup-bug", *(Rewrite(target, BUG) for target in targets)))
    foretold = one.report()["madeup-bug"].diff()
    for name in files:
        library.load(name.removesuffix(".__init__"))
    report = apply(one)
    assert report["madeup-bug"].status == Status.APPLIED
    assert changed_lines(report["madeup-bug"].diff()) == changed_lines(foretold)
    assert len([line for line in changed_lines(foretold) if line.startswith("+")]) == changed
    assert headers(report["madeup-bug"].diff()) == headers(foretold)


def changed_lines(diff: str) -> list[str]:
    lines = diff.splitlines()
    return [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]


def headers(diff: str) -> set[str]:
    return {line for line in diff.splitlines() if line.startswith(("+++", "---"))}


def test_the_diff_of_a_wrap(library, session, apply) -> None:
    one = session(patch("madeup-bug", Wrap("madeup.trainer:Trainer.step", passing)))
    expected = f"# madeup.trainer:Trainer.step is wrapped by {passing.__module__}.passing\n"
    assert one.report()["madeup-bug"].diff() == expected
    library.load("trainer")
    apply(one)
    assert one.report()["madeup-bug"].diff() == expected


def test_the_diff_of_a_wrap_by_name_imports_nothing(library, session) -> None:
    one = session(patch("madeup-bug", Wrap("madeup.trainer:Trainer.step", "madeup.later:helper")))
    diff = one.report()["madeup-bug"].diff()
    assert diff == "# madeup.trainer:Trainer.step is wrapped by madeup.later.helper\n"


def test_the_diff_of_a_report_is_what_is_applied(library, session, apply) -> None:
    library.write("later", "def f():\n    return bug()\n")
    one = session(patch("a-a"), patch("b-b", Rewrite("madeup.later:f", BUG)))
    assert one.report().diff() == ""
    library.load("trainer")
    apply(one)
    assert one.report().diff() == DIFF
    library.load("later")
    assert one.report().diff().count("+++ ") == 2


DRIFTS = {
    "no module": (Rewrite("madeup.gone:f", BUG), "there is no module madeup.gone"),
    "no function": (Rewrite("madeup.trainer:Trainer.gone", BUG), "Trainer does not define gone"),
    "no site": (
        Rewrite("madeup.trainer:Trainer.step", BUG),
        "expected 1 occurrence of the buggy code, found 0",
    ),
    "other number": (
        Rewrite(TARGET, BUG, sites=2),
        "expected 2 occurrences of the buggy code, found 1",
    ),
    "no site of many": (
        Rewrite("madeup.*:*.step", BUG),
        "its wildcards match no function with this bug",
    ),
    "no module to wrap in": (Wrap("madeup.gone:f", passing), "there is no module madeup.gone"),
    "other parameters": (
        Wrap("madeup.trainer:Trainer.step", passing, parameters=("gone",)),
        "Trainer.step has no parameter gone any more",
    ),
}


@pytest.mark.parametrize("case", DRIFTS)
def test_drift_is_foretold_and_comes(library, session, apply, case: str) -> None:
    change, message = DRIFTS[case]
    one = session(patch("madeup-bug", change))
    (drift,) = preview(patch("madeup-bug", change)).drift
    assert message in drift
    assert one.report()["madeup-bug"].diff().startswith(f"# drift: {drift}\n")
    library.load("trainer")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        status = apply(one)["madeup-bug"].status
    assert status != Status.APPLIED


def test_no_diff_of_a_module_that_will_be_left_alone(library, session) -> None:
    library.write("later", SOURCE)
    changes = (Rewrite(TARGET, BUG), Rewrite("madeup.later:Trainer.__init__", BUG, sites=2))
    text = session(patch("madeup-bug", *changes)).report()["madeup-bug"].diff()
    assert "+++ <patchkit>/madeup/trainer.py" in text
    assert "+++ <patchkit>/madeup/later.py" not in text
    assert "# drift: madeup.later:Trainer.__init__: expected 2" in text


def test_no_drift_is_foretold_where_none_comes(library, session, apply) -> None:
    changes = (Rewrite(TARGET, BUG), Wrap("madeup.trainer:Trainer.step", passing, ("size",)))
    assert preview(patch("madeup-bug", *changes)).drift == ()
    library.load("trainer")
    assert apply(session(patch("madeup-bug", *changes)))[0].status == Status.APPLIED
    assert preview(patch("madeup-bug", affects=">=2")).drift == ()

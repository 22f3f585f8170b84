"""The report as a sequence, a mapping, text, HTML, JSON, and as diffs."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from typing import Any

import pytest

from patchkit import PatchDefinitionError, PatchError, UnknownPatchError
from patchkit.catalogue import Broken, Catalogue, Entry
from patchkit.patch import Patch, Rewrite, Status, Wrap
from patchkit.reporting import PatchRecord, Report, TargetRecord
from patchkit.rewrite import Pattern, Rule, replace
from patchkit.session import Session

BUG = Rule(Pattern("bug()"), lambda node: [replace(node, "'mended'")], names=("bug",))
SOURCE = """\
class Trainer:
    def __init__(self):
        self.before = 1
        self.value = bug()
        self.after = 2

    def step(self, size=1):
        return size


def bug():
    return "bug"
"""
TARGET = "madeup.trainer:Trainer.__init__"


def patch(name: str = "madeup-bug", *changes: Any, affects: str = ">=1", **options: Any) -> Patch:
    return Patch(
        **{
            "id": name,
            "title": "it is mended",
            "affects": {"madeup": affects},
            "changes": changes or (Rewrite(TARGET, BUG),),
            "upstream": ("https://example.org/1",),
            **options,
        }
    )


def passing(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
    return wrapped(*args, **kwargs)


@pytest.fixture
def library(library):
    library.write("trainer", SOURCE)
    return library


@pytest.fixture
def three(library, session) -> Report:
    return session(patch("a-a"), patch("b-b", affects=">=2"), patch("c-c")).report()


def test_a_sequence_of_records(three) -> None:
    assert isinstance(three, Sequence)
    assert len(three) == 3
    assert [one.id for one in three] == ["a-a", "b-b", "c-c"]
    assert (three[0].id, three[-1].id, [one.id for one in three[1:]]) == (
        "a-a",
        "c-c",
        ["b-b", "c-c"],
    )
    assert [one.id for one in reversed(three)] == ["c-c", "b-b", "a-a"]
    assert three.index(three[1]) == 1
    assert three.count(three[1]) == 1
    assert bool(three)
    with pytest.raises(IndexError):
        three[3]


def test_a_mapping_by_id(three) -> None:
    assert three["b-b"] is three[1]
    assert three.keys() == ["a-a", "b-b", "c-c"]
    assert dict(three) == {one.id: one for one in three}
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
    assert [one.id for one in three.with_status(*statuses)] == ids


def test_summary(three) -> None:
    assert three.summary() == "2 available, 1 not-affected"
    assert repr(three) == "<Report: 2 available, 1 not-affected>"
    assert Report([]).summary() == "no patches"


def test_an_empty_report() -> None:
    empty = Report([])
    assert (len(empty), list(empty), empty.keys(), empty.diff()) == (0, [], [], "")
    assert str(empty).strip() == "patchkit: no patches"
    assert "<table>" in empty._repr_html_()
    assert empty.to_dict() == {"schema": 2, "changed": [], "patches": []}
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
]


def test_schema(library, session, apply) -> None:
    """Others read this: a change of it needs another number."""
    library.load("trainer")
    one = session(patch("a-a"), patch("b-b", affects=">=2"))
    given = apply(one).to_dict()
    assert list(given) == ["schema", "changed", "patches"]
    assert (given["schema"], given["changed"]) == (2, ["a-a"])
    assert [list(row) for row in given["patches"]] == [FIELDS, FIELDS]
    assert given["patches"][0] == {
        "id": "a-a",
        "title": "it is mended",
        "library": "madeup",
        "version": "1.2.0",
        "affects": {"madeup": ">=1"},
        "status": "applied",
        "reason": "mended Trainer.__init__",
        "targets": [{"target": TARGET, "status": "applied", "reason": ""}],
        "upstream": ["https://example.org/1"],
        "tested": {"level": "none", "outcomes": [], "detail": "not measured on madeup 1.2.0"},
        "error": None,
    }
    assert given["patches"][1]["status"] == "not-affected"
    assert given["patches"][1]["targets"] == []


def broken_rule() -> Rule:
    def oops(node: Any) -> Any:
        raise ZeroDivisionError("oops")

    return Rule(Pattern("bug()"), oops)


def troubled(library: Any, session: Any, apply: Any) -> Session:
    """A session with a patch of every status."""
    library.load("trainer")
    absent = Patch(
        id="not-installed",
        title="x",
        affects={"no-such-thing": ""},
        changes=(Rewrite("no_such_thing:f", BUG),),
    )
    library.write("later", "def f():\n    return bug()\n")
    one = session(
        patch("applied-one"),
        patch("pending-one", Rewrite("madeup.later:f", BUG)),
        absent,
        patch("not-affected", affects="<1"),
        patch("disabled-one"),
        patch("drifted-one", Rewrite("madeup.trainer:Trainer.gone", BUG)),
        patch("overridden-one", Wrap("madeup.trainer:Trainer.step", passing)),
        patch("failed-one", Rewrite("madeup.trainer:Trainer.__init__", broken_rule())),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        apply(one, exclude="disabled-one")
    library.load("trainer").Trainer.step = lambda self: None
    return one


def test_every_status_can_be_told(library, session, apply) -> None:
    report = troubled(library, session, apply).report()
    for one in report:
        assert one.id.startswith(one.status.value)
        assert one.reason
        assert one.id in str(report)
        assert one.id in report._repr_html_()
        assert isinstance(one.diff(), str)
    assert json.loads(report.to_json()) == report.to_dict()
    assert report["failed-one"].to_dict()["error"] == "ZeroDivisionError('oops')"
    assert report["not-installed"].to_dict()["version"] is None


def test_a_diff_that_cannot_be_made_does_not_cost_the_table(library, session, apply) -> None:
    one = session(patch("failed-one", Rewrite(TARGET, broken_rule())), patch("good-one"))
    html = one.report()._repr_html_()
    assert "failed-one" in html
    assert "good-one" in html


@pytest.mark.parametrize(
    "content",
    [b"def f():\n    return '\xe9'\n", b"def f(:\n", b"\x00"],
    ids=["latin", "typo", "nul"],
)
def test_a_file_that_cannot_be_read_does_not_cost_the_table(
    library, session, content: bytes
) -> None:
    (library.package / "odd.py").write_bytes(content)
    rule = Rule(Pattern("bug()"), lambda node: [replace(node, "1")])
    one = session(patch("madeup-bug", Rewrite("madeup.odd:f", rule)), patch("good-one"))
    assert "good-one" in one.report()._repr_html_()


def test_json_is_what_to_dict_says(three) -> None:
    assert json.loads(three.to_json()) == three.to_dict()
    assert json.loads(three.to_json(indent=None)) == three.to_dict()
    assert "\n" not in three.to_json(indent=None)


def record(**given: Any) -> PatchRecord:
    return PatchRecord(
        **{
            "id": "a-a",
            "title": "it is mended",
            "library": "madeup",
            "version": "1.2.0",
            "affects": {"madeup": ">=1"},
            "status": Status.DRIFTED,
            "reason": "why",
            "targets": (TargetRecord(TARGET, Status.DRIFTED, "why"),),
            "upstream": (),
            **given,
        }
    )


LONG = {
    "words in the reason": {"reason": "so many words in this sentence " * 20},
    "one word for a reason": {"reason": "x" * 300},
    "long id": {"id": "-".join(["madeup"] * 30)},
    "id of one word": {"id": "x" * 200},
    "long title": {"title": "what is so " * 40},
    "long version": {"version": "1.2.0+" + "g" * 100},
    "several lines": {"reason": "one\ntwo\n" + "three " * 40},
    "brackets": {"reason": "[bold]not markup[/bold] [/] [red" + " more" * 40},
    "wide letters": {"reason": "字" * 100},
}


@pytest.mark.parametrize("case", LONG)
def test_text_fits_a_terminal_and_loses_nothing(case: str) -> None:
    given = LONG[case]
    text = str(Report([record(status=Status.APPLIED, **given)])).partition("\n")[2]
    width = max(
        len(line) + sum(ord(letter) > 0x2E80 for letter in line) for line in text.splitlines()
    )
    assert width <= 80
    for value in given.values():
        assert "".join(value.split()) in "".join(text.removeprefix("applied").split())
    assert "…" not in text
    assert not [line for line in text.splitlines() if line != line.rstrip()]


def test_text_has_no_colours_and_keeps_its_width(monkeypatch) -> None:
    plain = str(Report([record()]))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b" not in plain
    assert str(Report([record()])) == plain


def test_text_in_a_notebook_is_text(monkeypatch) -> None:
    """rich shows what it prints in a notebook, and gives none of it to the file."""
    plain = str(Report([record()]))
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setattr("builtins.get_ipython", lambda: shell, raising=False)
    assert str(Report([record()])) == plain
    assert "a-a" in plain


def test_text_puts_trouble_first(library, session, apply) -> None:
    text = str(troubled(library, session, apply).report())
    rows = re.findall(r"^([a-z-]+) +\1", text, re.MULTILINE)
    assert rows == [
        "failed",
        "drifted",
        "overridden",
        "applied",
        "pending",
        "disabled",
        "not-affected",
        "not-installed",
    ]
    assert text.startswith("patchkit: ")


def broken() -> Report:
    error = PatchDefinitionError("patch 'x': it has no title")
    return Session(Catalogue({}, (Broken("addon.bad", error),))).report()


def test_a_broken_definition() -> None:
    (one,) = broken()
    assert (one.id, one.status, one.reason) == ("addon.bad", "failed", "patch 'x': it has no title")
    assert isinstance(one.error, PatchError)
    assert one.diff() == ""
    assert str(one.tested) == "not measured"


def test_a_broken_definition_has_no_version_that_could_be_absent() -> None:
    text = str(broken())
    assert "addon.bad" in text
    assert "absent" not in text


def test_html_escapes() -> None:
    nasty = "<script>alert('&')</script>"
    html = Report(
        [record(id="a-a", title=nasty, reason=nasty, version="<1>", _diffs=(f"-{nasty}\n",))]
    )._repr_html_()
    assert "<script" not in html
    assert "<1>" not in html
    assert html.count("&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;") == 3


def test_html_folds_diffs(library, session, apply) -> None:
    library.load("trainer")
    one = session(patch("a-a"), patch("b-b", affects=">=2"))
    apply(one)
    html = one.report()._repr_html_()
    assert html.count("<details>") == html.count("</details>") == 1
    assert html.count("<tr>") == html.count("</tr>") == 3
    folded = html.partition("<details>")[2].partition("</details>")[0]
    assert "-        self.value = bug()" in folded
    assert "+        self.value = &#x27;mended&#x27;" in folded
    assert "+        self.value" not in html.replace(folded, "")


DIFF = """\
--- madeup/trainer.py
+++ <patchkit madeup/trainer.py>
@@ -2,5 +2,5 @@
     def __init__(self):
         self.before = 1
-        self.value = bug()
+        self.value = 'mended'
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
    "found twice": (
        ("madeup.one:f", "madeup.*:f"),
        {"one": "def f():\n    return bug()\n"},
        1,
    ),
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
    expected = f"# madeup.trainer:Trainer.step is wrapped by {__name__}.passing\n"
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
        ((Rewrite(TARGET, BUG),), "waits for the import of 1 modules"),
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
    assert record.reason == "mended Trainer.__init__; 1 more when their modules are imported"
    assert [str(target.status) for target in record.targets] == ["applied", "pending"]


def test_records_do_not_change(three) -> None:
    with pytest.raises(AttributeError):
        three[0].status = Status.APPLIED
    three[0].to_dict()["affects"]["madeup"] = "changed in the copy"
    assert three[0].affects == {"madeup": ">=1"}


def test_entries_without_a_reproducer_are_reported() -> None:
    one = patch("a-a", affects=">=9")
    assert len(Session(Catalogue({one.id: Entry(one, "tests", None)})).report()) == 1

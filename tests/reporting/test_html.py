"""The report as HTML for a notebook."""

from __future__ import annotations

import re
from html import escape as html_escape

import pytest

from patchkit.patch import Patch, Rewrite, Status
from patchkit.reporting.report import Report
from patchkit.rewrite import Pattern, Rule, replace

from ..madeup_bug import TARGET, patch
from .conftest import broken_rule, record, troubled


def test_html_escapes() -> None:
    nasty = "<script>alert('&')</script>"
    html = Report(
        [record(id="a-a", title=nasty, reason=nasty, version="<1>", _diffs=(f"-{nasty}\n",))]
    )._repr_html_()
    assert "<script" not in html
    assert "<1>" not in html
    assert html.count("&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;") == 3


def details(html: str) -> list[str]:
    """What is folded in, innermost ones."""
    return re.findall(r"<details>((?:(?!<details>).)*?)</details>", html, re.DOTALL)


def test_html_folds_diffs(library, session, apply) -> None:
    library.load("trainer")
    one = session(patch("a-a"))
    apply(one)
    html = one.report()._repr_html_()
    functions, diff = details(html)
    assert functions == f"<summary>1 function</summary>{TARGET}"
    assert f'<span style="{RED}">-        self.value = bug()\n</span>' in diff
    assert f'<span style="{GREEN}">+        self.value = &#x27;fixed&#x27;\n</span>' in diff
    assert "+        self.value" not in html.replace(diff, "")


def test_html_marks_what_is_wrapped() -> None:
    html = Report([record(status=Status.APPLIED, _diffs=("# x is wrapped by y\n",))])._repr_html_()
    assert re.search(r'<span style="background:[^"]+"># x is wrapped by y', html)


RED, GREEN = "background:rgba(248,81,73,.22)", "background:rgba(46,160,67,.22)"


def test_html_has_every_patch_and_folds_what_is_not_due(library, session, apply) -> None:
    report = troubled(library, session, apply).report()
    html = report._repr_html_()
    shown, folded = html.split("<summary>3 not due here</summary>")
    rows = re.findall(r"<tr><td[^>]*>([a-z-]+)</td>", shown)
    assert rows == ["failed", "drifted", "overridden", "applied", "pending"]
    assert re.findall(r"<tr><td[^>]*>([a-z-]+)</td>", folded) == [
        "disabled",
        "not-affected",
        "not-installed",
    ]
    for reported in report:
        assert html_escape(reported.title) in html
        assert html_escape(reported.reason) in html
    assert html_escape(report["drifted-one"].advice) in shown


def test_html_is_well_formed_and_needs_nothing_from_elsewhere(library, session, apply) -> None:
    html = troubled(library, session, apply).report()._repr_html_()
    for tag in ("div", "table", "tr", "td", "th", "details", "summary", "pre", "span", "b"):
        assert len(re.findall(f"<{tag}[ >]", html)) == html.count(f"</{tag}>"), tag
    assert not re.search(r"<(script|link|style|img)|https?:|src=|[^-]color:", html)


def test_html_does_not_look_for_what_would_be_done(library, session, monkeypatch) -> None:
    report = session(patch("a-a")).report()
    looked_at: list[Patch] = []
    monkeypatch.setattr("patchkit.matrix.preview.preview", looked_at.append)
    assert "a-a" in report._repr_html_()
    assert looked_at == []


def test_a_diff_that_cannot_be_made_raises_nothing(library, session) -> None:
    one = session(patch("failed-one", Rewrite(TARGET, broken_rule()))).report()
    assert one["failed-one"].diff().startswith("# no diff can be made: ")


@pytest.mark.parametrize(
    "content",
    [b"def f():\n    return '\xe9'\n", b"def f(:\n", b"\x00"],
    ids=["latin", "typo", "nul"],
)
def test_a_file_that_cannot_be_read_raises_nothing(library, session, content: bytes) -> None:
    (library.package / "odd.py").write_bytes(content)
    rule = Rule(Pattern("bug()"), lambda node: [replace(node, "1")])
    one = session(patch("madeup-bug", Rewrite("madeup.odd:f", rule)), patch("good-one"))
    report = one.report()
    assert report["madeup-bug"].diff().startswith("# ")
    assert "self.value" in report["good-one"].diff()

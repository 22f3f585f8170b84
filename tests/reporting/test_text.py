"""The report as text: it fits, it loses nothing that matters, and says first what to do."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

import patchkit
from patchkit.matrix import lookup as matrix
from patchkit.patch import Status
from patchkit.reporting.report import Report
from patchkit.reporting.text import PrintedReport, plain_text

from ..madeup_bug import patch
from .conftest import broken_report, record, troubled

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


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("case", LONG)
@pytest.mark.parametrize("status", ["drifted", "applied"])
def test_text_fits_a_terminal_and_loses_nothing(case: str, width: int, status: str) -> None:
    given = LONG[case]
    text = plain_text(PrintedReport(Report([record(status=Status(status), **given)])), width)
    # An id on a line of its own stays whole, so that it can be copied.
    widest = max(
        len(line) + sum(ord(letter) > 0x2E80 for letter in line)
        for line in text.splitlines()
        if line.strip() != given.get("id")
    )
    assert widest <= width
    shown = "".join(text.split()).replace(status, "")
    for name, value in given.items():
        if status == "drifted" or name != "reason":
            assert "".join(value.split()) in shown
    assert "id" not in given or status == "drifted" or given["id"] in text
    assert "\u2026" not in text
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


def test_text_says_what_matters_first(library, session, apply) -> None:
    text = str(troubled(library, session, apply).report())
    lines = text.splitlines()
    standing = "1 patch applied, 1 overridden, 1 drifted, 1 failed, 1 pending"
    assert lines[0] == f"patchkit {patchkit.__version__}: {standing}"
    assert lines[1] == "on madeup==1.2.0"
    starts = [
        "needs attention",
        "  failed ",
        "  drifted ",
        "  overridden ",
        "untested not measured on madeup 1.2.0: applied-one, pending-one",
        "applied (1 function changed; report().diff() shows them)",
        "  applied-one ",
        "pending ",
        "  pending-one",
        "disabled, left out by exclude=: disabled-one",
        "not affected: not-affected",
        "not installed: no-such-thing",
    ]
    at = [next(i for i, line in enumerate(lines) if line.startswith(start)) for start in starts]
    assert at == sorted(at)


def test_text_says_what_to_do(library, session, apply) -> None:
    report = troubled(library, session, apply).report()
    text = " ".join(str(report).split())
    for reported in report.with_status("failed", "drifted", "overridden"):
        assert f"{reported.reason} -> {reported.advice}" in text


def test_text_of_a_healthy_catalogue_is_short(library, session) -> None:
    shown = session(*(patch(f"madeup-number-{number}") for number in range(30))).report()
    assert len(str(shown).splitlines()) < 40


def test_a_patch_on_request_is_no_news(library, session, apply) -> None:
    one = session(patch("a-a"), patch("b-b", opt_in="preflight"))
    library.load("trainer")
    text = str(apply(one))
    assert text.startswith(f"patchkit {patchkit.__version__}: 1 patch applied\n")
    assert "\non request: b-b, by patchkit.apply(preflight=True)" in text


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_text_can_be_printed_anywhere(monkeypatch, encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr("sys.stdout", stream)
    print(Report([record(reason="\u5b57 \u2713")]))
    stream.flush()
    assert b"? ?" in stream.buffer.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("no_color", ["", "1"])
def test_colours_are_for_terminals(monkeypatch, terminal: bool, no_color: str) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", no_color)
    file = io.StringIO()
    monkeypatch.setattr(file, "isatty", lambda: terminal, raising=False)
    Console(file=file).print(Report([record()]))
    coloured = re.search(r"\x1b\[[0-9;]*3[1-7]", file.getvalue())
    assert bool(coloured) == (terminal and not no_color)


def test_a_broken_definition_has_no_version_that_could_be_absent() -> None:
    text = str(broken_report())
    assert "addon.bad" in text
    assert "absent" not in text


def test_titles_stand_below_their_ids_where_there_is_no_room() -> None:
    applied = Report([record(id="a-a-a-a-a-a-a-a-a-a-a-a-a-a-a", status=Status.APPLIED)])
    wide, narrow = (plain_text(PrintedReport(applied), width).splitlines() for width in (80, 60))
    assert "  a-a-a-a-a-a-a-a-a-a-a-a-a-a-a  it is fixed" in wide
    at = narrow.index("  a-a-a-a-a-a-a-a-a-a-a-a-a-a-a")
    assert narrow[at + 1] == "    it is fixed"


def test_versions_are_those_that_matter() -> None:
    due = record(id="a-a", status=Status.APPLIED)
    twin = record(id="b-b", status=Status.PENDING)
    other = record(id="c-c", library="other", version="9", status=Status.NOT_AFFECTED)
    assert str(Report([due, other, twin])).splitlines()[1] == "on madeup==1.2.0"
    assert "\non " not in str(Report([other]))


@pytest.mark.parametrize(
    ("level", "outcome", "said"),
    [
        ("combination", "fixed", False),
        ("version", "fixed", False),
        ("scanned", "matches", False),
        ("scanned", "drifted", True),
        ("none", "", True),
        ("unknown", "", True),
    ],
)
@pytest.mark.parametrize("status", [Status.APPLIED, Status.AVAILABLE, Status.NOT_AFFECTED])
def test_what_was_not_measured_is_said(level: str, outcome: str, said: bool, status: str) -> None:
    one = record(status=status)
    vars(one)["tested"] = matrix.Tested(level, (outcome,), "what the matrix says")
    text = str(Report([one]))
    said = said and status != Status.NOT_AFFECTED
    assert ("untested what the matrix says: a-a\n-> `patchkit verify`" in text) == said

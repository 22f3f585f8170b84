"""`patchkit list`: one line a patch, what is due first."""

from __future__ import annotations

import json

import pytest

from patchkit.engine import session
from patchkit.engine.choices import Choices
from patchkit.patch import Status

from .conftest import invoke, patch, patches


def ids(text: str) -> list[str]:
    return [line.split()[1] for line in text.splitlines() if line.startswith("  ")]


ALL = ["madeup-cast", "madeup-wrap", "madeup-asked", "madeup-fixed", "absent-bug"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ALL),
        (["--due"], ["madeup-cast", "madeup-wrap", "madeup-asked"]),
        (["madeup-f*", "absent-bug"], ["absent-bug", "madeup-fixed"]),
        (["--due", "absent-bug"], []),
    ],
)
def test_which(madeup, arguments: list[str], expected: list[str]) -> None:
    result = invoke("list", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    assert ids(result.stdout) == expected
    listed = json.loads(invoke("list", *arguments, "--json").stdout)
    assert sorted(patch["id"] for patch in listed["patches"]) == sorted(expected)


def test_what_is_switched_off(madeup, monkeypatch) -> None:
    monkeypatch.setenv("PATCHKIT_DISABLE", "madeup-cast")
    lines = invoke("list").stdout.splitlines()
    assert [line[2] for line in lines if "madeup-cast" in line] == ["o"]
    assert "o disabled" in lines[-1]


def test_what_is_applied_already_is_due(madeup) -> None:
    """As under `patchkit run`, where each interpreter begins with `apply`."""
    before = invoke("list").stdout
    one = session.SESSION
    one.apply(Choices(exclude="madeup-wrap"))
    try:
        assert one.report()["madeup-cast"].status is Status.PENDING
        text = invoke("list").stdout
        due = json.loads(invoke("list", "--due", "--json").stdout)["patches"]
    finally:
        one.revert(None)
    assert text.splitlines()[1] == before.splitlines()[1]
    assert {found["id"]: found["due"] for found in due} == {
        "madeup-asked": True,
        "madeup-cast": True,
    }


def test_nothing_of_it_is_due(madeup) -> None:
    assert invoke("list", "--due", "absent-bug").stdout == "None of these is due here.\n"


def test_the_text(madeup) -> None:
    lines = invoke("list").stdout.splitlines()
    assert lines[0] == "madeup 1.2.0"
    assert lines[1].startswith("  * madeup-cast   the title of madeup-cast, which")
    assert lines[1].endswith("...")
    assert [line[2] for line in lines if line.startswith("  ")] == ["*", "*", "?", "-", "."]
    assert lines[-1] == "* due  ? on request  - not affected  . not installed"


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_it_fits(madeup, width: int) -> None:
    text = invoke("list", env={"COLUMNS": str(width)}).stdout
    assert max(map(len, text.splitlines())) <= max(width, 56)
    assert (patches()[0].title in text) == (width >= 120)


def test_the_json(madeup) -> None:
    given = json.loads(invoke("list", "madeup-cast", "--json").stdout)
    assert given == {
        "schema": 1,
        "patches": [
            {
                "id": "madeup-cast",
                "title": patches()[0].title,
                "library": "madeup",
                "version": "1.2.0",
                "affects": {"madeup": ">=1"},
                "due": True,
                "on_request": False,
                "status": "available",
                "reason": "due here; patchkit.apply() applies it",
            }
        ],
    }


def test_what_cannot_be_read_is_listed(use) -> None:
    use(patch("madeup-cast"), broken=True)
    result = invoke("list")
    assert "  ! addon.bad" in result.stdout
    assert "! cannot be read" in result.stdout


def test_an_empty_catalogue(use) -> None:
    use()
    assert invoke("list").stdout == "There are no patches.\n"


def test_it_imports_little(loaded_of) -> None:
    """What keeps the answer under 300 ms."""
    heavy = ("torch", "numpy", "transformers", "trl", "rich", "yaml", "wrapt", "asyncio")
    assert loaded_of("list", *heavy) == []

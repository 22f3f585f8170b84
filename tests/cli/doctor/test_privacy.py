"""Nothing private is left in a text, and nothing else is lost."""

from __future__ import annotations

import getpass
import platform
from pathlib import Path

import pytest

from patchkit.cli.doctor.privacy import without_private_data


@pytest.fixture(autouse=True)
def somebody(monkeypatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/zaphod"))
    monkeypatch.setattr(getpass, "getuser", lambda: "zaphod")
    monkeypatch.setattr(platform, "node", lambda: "heart-of-gold")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/zaphod/x/site-packages/trl/a.py", "~/x/site-packages/trl/a.py"),
        ("no file '/opt/secret/lib.so'", "no file '…/lib.so'"),
        ("OSError:/data/alice/lib.so: bad", "OSError:…/lib.so: bad"),
        (r"C:\Users\alice\lib.dll is bad", "…/lib.dll is bad"),
        ("zaphod@heart-of-gold said", "<user>@<host> said"),
        ("zaphods", "zaphods"),
        (
            "see https://github.com/huggingface/trl/issues/1",
            "see https://github.com/huggingface/trl/issues/1",
        ),
        ("transformers>=4.56 and/or x/y.py", "transformers>=4.56 and/or x/y.py"),
        ("a / b", "a / b"),
    ],
)
def test_text(text: str, expected: str) -> None:
    assert without_private_data(text) == expected


@pytest.mark.parametrize("name", ["root", "x", "user"])
def test_names_that_are_words(monkeypatch, name: str) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: name)
    assert without_private_data(f"the {name} of it") == f"the {name} of it"


def test_a_user_without_name(monkeypatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert without_private_data("text") == "text"

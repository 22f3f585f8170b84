"""The whole: order, 80 columns, JSON, privacy, and checks that fail themselves."""

from __future__ import annotations

import getpass
import json
import platform
from pathlib import Path
from typing import NoReturn

import pytest

from patchkit.cli.doctor import (
    Diagnosis,
    diagnose,
    due,
    patchers,
    requirements,
    variables,
    versions,
)
from patchkit.cli.doctor.section import Section, SectionRow, Step
from patchkit.reporting.pins import Pins

SECTIONS = [
    "environment",
    "frameworks",
    "requirements",
    "pairs",
    "devices",
    "patches",
    "variables",
    "kept",
    "patchers",
]


@pytest.fixture
def ailing(installation, monkeypatch):
    """An installation in which much is wrong."""
    installation.add("trl", "0.24.0", ["transformers>=6", "datasets>=3", "accelerate>=1.4"])
    installation.add("transformers", "5.23.0", [f"absent-{number}" for number in range(30)])
    installation.add("accelerate", "1.0.1")
    installation.add("unsloth", "2026.10.9")
    installation.add("liger-kernel", "0.8.5")
    monkeypatch.setenv("PATCHKIT_ADAPTOR_CAST", "bf16")
    monkeypatch.setenv("PATCHKIT_DISABLE", "trl-nothing")
    monkeypatch.setenv("PATCHKIT_CACHE", "/home/zaphod/cache")
    monkeypatch.setattr(Path, "home", lambda: Path("/home/zaphod"))
    monkeypatch.setattr(getpass, "getuser", lambda: "zaphod")
    monkeypatch.setattr(platform, "node", lambda: "heart-of-gold")
    return installation


def test_text(ailing) -> None:
    text = str(diagnose(quick=True))
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[2:4] == ["What to do", lines[3]]
    assert lines[3].startswith(" 1. ")
    assert not [line for line in lines if line != line.rstrip()]
    assert "\x1b" not in text


def test_what_is_wrong_comes_first(ailing) -> None:
    wrong = [step.wrong for step in diagnose(quick=True).steps]
    assert wrong == sorted(wrong, reverse=True)
    assert {True, False} == set(wrong)


def test_json(ailing) -> None:
    content = diagnose(quick=True).to_dict()
    assert json.loads(json.dumps(content)) == content
    assert list(content) == ["schema", "steps", *SECTIONS]
    assert content["schema"] == 1
    assert content["environment"]["installed"]["trl"] == "0.24.0"


def test_nothing_private(ailing, tmp_path: Path) -> None:
    diagnosis = diagnose(quick=True)
    for text in (str(diagnosis), json.dumps(diagnosis.to_dict())):
        assert "zaphod" not in text
        assert "heart-of-gold" not in text
        assert str(tmp_path) not in text


@pytest.mark.parametrize("check", [versions, requirements, due, variables, patchers])
@pytest.mark.parametrize("error", [ValueError, OSError, SystemExit])
def test_a_check_that_fails(ailing, monkeypatch, check, error: type[BaseException]) -> None:
    def fail(*_: object) -> NoReturn:
        raise error("/home/zaphod/secret/file is bad")

    monkeypatch.setattr(check, "check", fail)
    diagnosis = diagnose(quick=True)
    assert "could not be checked: " in str(diagnosis)
    assert f"{error.__name__}: ~/secret/file is bad" in " ".join(str(diagnosis).split())
    unknown = [name for name in SECTIONS if "unknown" in (diagnosis.to_dict()[name] or ())]
    assert len(unknown) == 1


@pytest.mark.parametrize(
    ("wrong", "status"), [((), 0), ((False,), 0), ((True,), 1), ((False, True), 1)]
)
def test_exit_status(wrong: tuple[bool, ...], status: int) -> None:
    steps = tuple(Step("something", wrong=is_wrong) for is_wrong in wrong)
    assert Diagnosis((Section("a", "A", steps=steps),), Pins({})).exit_status == status


def test_nothing_to_do() -> None:
    text = str(Diagnosis((Section("a", "A", (SectionRow("label", "text"),)),), Pins({})))
    assert "What to do\n  Nothing.\n\nA\n  label           text" in text


@pytest.mark.parametrize(
    ("present", "step"),
    [
        ([], "No library that patchkit fixes is installed"),
        (["trl", "transformers"], "torch is missing"),
        (["trl", "transformers", "torch"], ""),
    ],
)
def test_what_is_missing(installation, present: list[str], step: str) -> None:
    for name in present:
        installation.add(name, "1.0")
    steps = versions.check().steps
    assert [found.what.startswith(step) for found in steps] == [True] * bool(step)


def test_a_build_that_is_no_release(installation) -> None:
    installation.add("trl", "1.17.0.dev0")
    info = next(installation.folder.glob("trl-*"))
    source = {
        "url": "https://zaphod:secret@example.org/trl",
        "vcs_info": {"vcs": "git", "commit_id": "0123456789abcdef"},
    }
    (info / "direct_url.json").write_text(json.dumps(source))
    section = versions.check()
    assert SectionRow("trl", "1.17.0.dev0 (from git 0123456789)") in section.rows
    assert "secret" not in repr(section)

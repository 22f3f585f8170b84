"""What is told of a script, and when."""

from __future__ import annotations

import logging
from pathlib import Path

import click
import pytest

from patchkit.legacy.changes import Change
from patchkit.legacy.uses import Journal, Kind, RecordedPlace

CHANGE = Change(gone="trl 1.0.0")
LIBRARY = RecordedPlace(click.__file__, 1)


@pytest.fixture
def log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING, "patchkit.legacy")
    monkeypatch.setenv("PATCHKIT_NOTED", "")
    return caplog


@pytest.fixture
def place(tmp_path: Path) -> RecordedPlace:
    return RecordedPlace(str(tmp_path / "train.py"), 3)


def told(journal: Journal, place: RecordedPlace, old: str, kind: Kind = Kind.TOLD) -> None:
    journal.note(CHANGE, kind, old, f"{old}: changed", place)


def test_what_changed_is_told_once_a_script_is_known_to_be_old(
    log: pytest.LogCaptureFixture, place: RecordedPlace
) -> None:
    journal = Journal()
    for _ in range(2):
        told(journal, place, "A")
    assert not log.messages
    assert not journal.uses()
    told(journal, place, "tokenizer=", Kind.FIXED)
    told(journal, place, "B")
    expected = ["tokenizer=", "A", "B"]
    assert log.messages == [f"patchkit: train.py:3: {old}: changed" for old in expected]
    assert [(use.old, use.count) for use in journal.uses()] == [
        ("tokenizer=", 1),
        ("A", 2),
        ("B", 1),
    ]


def test_what_is_told_is_forgotten_with_the_rest(
    log: pytest.LogCaptureFixture, place: RecordedPlace
) -> None:
    journal = Journal()
    told(journal, place, "A")
    journal.clear()
    told(journal, place, "tokenizer=", Kind.FIXED)
    assert [use.old for use in journal.uses()] == ["tokenizer="]


def test_a_process_does_not_repeat_what_the_one_that_started_it_has_noted(
    log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        told(Journal(), LIBRARY, "A=", Kind.FIXED)
    assert len(log.messages) == 2  # in this process
    monkeypatch.setattr("os.getpid", lambda: -1)
    started = Journal()
    for old in ("A=", "B="):
        told(started, LIBRARY, old, Kind.FIXED)
    assert [use.old for use in started.uses()] == ["A=", "B="]
    assert log.messages[2:] == ["patchkit: __init__.py:1: B=: changed"]

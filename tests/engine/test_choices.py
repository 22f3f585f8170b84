"""The arguments of `apply` as one value: checked once, and readable by other interpreters."""

from __future__ import annotations

import json
from typing import Any

import pytest

from patchkit import UsageError
from patchkit.engine.choices import Choices

from ..madeup_bug import patch


def full() -> Choices:
    return Choices(
        ["a"],
        ("b", "c"),
        strict=True,
        dtype="fp16",
        preflight=True,
        keywords={"d": "e", "lookout": True, "other": False},
        patches="/",
        verbose=True,
    )


def test_there_and_back() -> None:
    assert Choices.decode(full().encode()) == full()
    assert Choices.decode(Choices().encode()) == Choices()


def test_what_another_version_adds_is_passed_over() -> None:
    later = json.loads(full().encode()) | {"added": "by another version"}
    assert Choices.decode(json.dumps(later)) == full()


def test_what_tells_that_an_interpreter_may_wait() -> None:
    for choice in ('"strict":false', '"verbose":false', '"patches":[]'):
        assert choice in Choices().encode()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"strict": 1}, "strict= must be True or False, not 1"),
        ({"preflight": "yes"}, "preflight= must be True or False, not 'yes'"),
        ({"only": 7}, "only= takes a patch id, a glob such as 'trl-*', or several of them, not 7"),
        ({"exclude": 0}, "exclude= takes a patch id, a glob such as 'trl-*', or several"),
        ({"exclude": ["a", 7]}, "exclude= takes patch ids and globs, not 7"),
        ({"dtype": "fp61"}, "dtype= must be torch.float16, torch.bfloat16 or torch.float32"),
        ({"patches": 7}, "patches= takes a folder, a .py file, or several of them, not 7"),
        ({"patches": "no/such/folder"}, "there is no folder or file of patches 'no/such/folder'"),
    ],
)
def test_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Choices(**given)
    assert str(caught.value).startswith(message)


def test_spellings_of_one_choice_are_equal() -> None:
    assert Choices("a", iter(["b"]), dtype="half") == Choices(["a"], "b", dtype="float16")
    for value in (True, False):
        assert Choices(preflight=value) == Choices(keywords={"preflight": value})
        assert Choices(preflight=value) != Choices()
    assert Choices(preflight=None) == Choices()
    assert Choices(only=()) != Choices()


def test_an_iterator_is_read_once(library, session) -> None:
    """`exclude` is looked at twice, before the lock is taken and under it."""
    library.write("trainer", "class Trainer:\n    def __init__(self):\n        self.x = bug()\n")
    one = session(patch("a-a"))
    report = one.apply(Choices(exclude=iter(["a-a"])))
    assert report["a-a"].status == "disabled"
    assert one.applied() == frozenset()

"""The arguments of `apply` as one value: checked once, and readable by other versions."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from patchkit import UsageError
from patchkit.engine.choices import Choices

from ..madeup_bug import patch

BY_ANOTHER_VERSION = (
    '{"only":["a"],"exclude":["b","c"],"strict":true,"dtype":"fp16","preflight":true,'
    '"settings":{"d":"e"},"patches":["/"],"verbose":true}'
)
KINDS_OF_ANOTHER_VERSION = {
    "only": list,
    "exclude": list,
    "strict": bool,
    "dtype": str,
    "preflight": bool,
    "settings": dict,
    "patches": list,
    "verbose": bool,
}
"""An interpreter of a command may have a version that was released before `opt_in`."""


def full() -> Choices:
    return Choices(
        ["a"],
        ("b", "c"),
        strict=True,
        dtype="fp16",
        preflight=True,
        keywords={"d": "e", "lookout": True},
        patches="/",
        verbose=True,
    )


def test_there_and_back() -> None:
    assert Choices.decode(full().encode()) == full()
    assert Choices.decode(Choices().encode()) == Choices()


def test_what_another_version_adds_is_passed_over() -> None:
    later = json.loads(full().encode()) | {"added": "by another version"}
    assert Choices.decode(json.dumps(later)) == full()


def test_what_another_version_wrote() -> None:
    read = Choices.decode(BY_ANOTHER_VERSION)
    assert read == dataclasses.replace(full(), keywords={"d": "e", "preflight": True})
    assert Choices.decode("{}") == Choices()


def test_what_another_version_can_read() -> None:
    written = json.loads(full().encode())
    assert {name: type(written[name]) for name in KINDS_OF_ANOTHER_VERSION} == (
        KINDS_OF_ANOTHER_VERSION
    )
    assert written["settings"] == {"d": "e"}
    assert written["preflight"] is True
    for choice in ('"strict":false', '"verbose":false', '"patches":[]'):
        assert choice in Choices().encode()  # by which it tells whether it may wait


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
    assert Choices(preflight=True) == Choices(keywords={"preflight": True})
    assert Choices(only=()) != Choices()


def test_an_iterator_is_read_once(library, session) -> None:
    """`exclude` is looked at twice, before the lock is taken and under it."""
    library.write("trainer", "class Trainer:\n    def __init__(self):\n        self.x = bug()\n")
    one = session(patch("a-a"))
    report = one.apply(Choices(exclude=iter(["a-a"])))
    assert report["a-a"].status == "disabled"
    assert one.applied() == frozenset()

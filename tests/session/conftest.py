"""A made-up library with a bug, and patches of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace

BUG = Rule(Pattern("bug()"), lambda node: [replace(node, "'mended'")], names=("bug",))


OTHER_BUG = Rule(Pattern("other_bug()"), lambda node: [replace(node, "'mended too'")])


SOURCE = """\
class Trainer:
    def __init__(self):
        self.value = bug()

    def step(self, size=1):
        return size

def bug():
    return "bug"
"""


TARGET = "madeup.trainer:Trainer.__init__"


def patch(name: str = "madeup-bug", *changes: Any, affects: str = ">=1", **options: Any) -> Patch:
    return Patch(
        id=name,
        title="it is mended",
        affects={"madeup": affects},
        changes=changes or (Rewrite(TARGET, BUG),),
        **options,
    )


@pytest.fixture
def trainer(library) -> Callable[[], type]:
    library.write("trainer", SOURCE)
    return lambda: library.load("trainer").Trainer


def double(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
    return 2 * wrapped(*args, **kwargs)

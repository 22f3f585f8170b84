"""A made-up library with a bug, and patches of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from patchkit.rewrite import Pattern, Rule, replace

from ..madeup_bug import SOURCE

OTHER_BUG = Rule(Pattern("other_bug()"), lambda node: [replace(node, "'fixed too'")])


@pytest.fixture
def trainer(library) -> Callable[[], type]:
    library.write("trainer", SOURCE)
    return lambda: library.load("trainer").Trainer


def double(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
    return 2 * wrapped(*args, **kwargs)

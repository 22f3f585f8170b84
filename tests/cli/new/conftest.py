"""`patchkit new` where a made-up library is installed, and what it writes is filled in."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ...processes import python_path, run_python

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]

SOURCE = '''\
from enum import Enum
import math


class Base:
    def log(self):
        return 1


class Trainer(Base):
    """Trains."""

    def __init__(
        self, size, *rest, scale=1.0, **more
    ):
        """Begin."""
        self.size = size
        if size > 1000 and not rest:
            self.size = math.floor(size / scale)
        for each in range(size):
            self.last = each.__class__(each)
        self.total = total = math.fsum([size, scale])
        total = total * 2
        total = total * 2
        self.name = "a {curly} \\\\ 'quoted'"

        def inner(number):
            return math.sqrt(number) + self.size

        self.inner = inner

    @staticmethod
    def half(number):
        return number.to("float16")


if math.pi > 3:
    def branch(number):
        return number + 1
else:
    def branch(number):
        return number + 2


def long(number):
    return math.fsum([number.the_first_one, number.the_second_one, number.the_third_one,
                      number.fourth, number.fifth])
'''


def line_of(text: str) -> int:
    """The number of the line that has this text."""
    return next(n for n, line in enumerate(SOURCE.splitlines(), 1) if text in line)


@pytest.fixture
def madeup(library: Any) -> Any:
    library.write("trainer", SOURCE)
    library.write("again", "from .trainer import Trainer\n")
    return library


@pytest.fixture
def run(madeup: Any, tmp_path: Path) -> Run:
    """Runs a Python program, such as `patchkit`, where the made-up library is installed."""

    def program(*arguments: str, **env: str) -> Done:
        variables = {"PYTHONPATH": python_path(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", **env}
        return run_python("-m", *arguments, folder=tmp_path, **variables)

    return program

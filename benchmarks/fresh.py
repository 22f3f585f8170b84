"""Run programs in fresh interpreters, in turns, and read what they print."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

Outcome = dict[str, Any]
"""The last line that a program prints, in JSON."""


class ProgramFailed(RuntimeError):
    """A program did not end well; the message is what it wrote to stderr."""


class Interpreters:
    """Starts interpreters that share one bytecode cache, or have none.

    Args:
        environment: the variables of every interpreter.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)

    def run(self, arguments: Sequence[str]) -> Outcome:
        """Run one program to its end.

        Args:
            arguments: what follows `python`, such as `["-c", "print(1)"]`.

        Raises:
            ProgramFailed: its exit status is not 0.
        """
        done = subprocess.run(
            [sys.executable, *arguments], env=self._environment, capture_output=True, text=True
        )
        if done.returncode:
            raise ProgramFailed(done.stderr)
        outcome: Outcome = json.loads(done.stdout.splitlines()[-1])
        return outcome

    def take_turns(
        self, programs: Mapping[str, Sequence[str]], rounds: int
    ) -> dict[str, list[Outcome]]:
        """Run each program once a round, so that other load on the machine hits all alike.

        Every other round goes backwards: none is always the first.
        """
        outcomes: dict[str, list[Outcome]] = {name: [] for name in programs}
        for number in range(rounds):
            names = list(programs)
            for name in names if number % 2 == 0 else reversed(names):
                outcomes[name].append(self.run(programs[name]))
        return outcomes


@contextmanager
def interpreters(*, bytecode: bool = True) -> Iterator[Interpreters]:
    """Provide interpreters with a bytecode cache of their own, empty at first.

    A program should run once before it is measured: what is installed may hold no bytecode yet,
    and who measures may have switched the writing of it off.

    Args:
        bytecode: whether compiled modules are kept, as Python does by default. Where not, only
            what was compiled at its installation, such as the standard library, is.
    """
    if not bytecode:
        yield Interpreters({**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        return
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": os.path.join(cache, "bytecode"),
            "PATCHKIT_CACHE": os.path.join(cache, "patchkit"),
        }
        yield Interpreters({**os.environ, **environment})

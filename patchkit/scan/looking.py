"""Looking at modules in several processes."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from types import TracebackType

from .. import catalogue
from .facts import Facts, facts
from .questions import Questions

_BATCH = 16
"""How many modules a process is handed at once."""

Module = tuple[str, bytes]
"""The name of a module, and the content of its file."""


def of_library(entries: catalogue.Catalogue, library: str) -> Questions:
    return Questions(one.patch for one in entries if one.patch.library == library)


class Lookers:
    """Processes that look at modules, each with the catalogue read anew.

    Args:
        jobs: how many; with one, this process looks itself.
    """

    def __init__(self, jobs: int) -> None:
        # Not forked: threads that download run here.
        self._pool = (
            ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _ignore_interrupt)
            if jobs > 1
            else None
        )

    def __enter__(self) -> Lookers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def look(
        self, library: str, questions: Questions, modules: Sequence[Module]
    ) -> Iterator[Facts]:
        """The facts of each module, in their order."""
        done = 0
        if self._pool is not None:
            batches = [modules[at : at + _BATCH] for at in range(0, len(modules), _BATCH)]
            try:
                for found in self._pool.map(_look, [library] * len(batches), batches):
                    yield from found
                    done += len(found)
            except BrokenProcessPool:  # such as a main module that cannot be imported twice
                self._pool = None
        for module, content in modules[done:]:
            yield facts(module, content, questions)


def _look(library: str, modules: Sequence[Module]) -> list[Facts]:
    questions = _questions(library)
    return [facts(module, content, questions) for module, content in modules]


@cache
def _questions(library: str) -> Questions:
    return of_library(catalogue.load(), library)


def _ignore_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)

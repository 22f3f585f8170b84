"""Looking at modules in several processes."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from types import TracebackType

from .. import catalogue
from ..children import command
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
        self._all = [_Looker() for _ in range(jobs)] if jobs > 1 else []
        self._idle: SimpleQueue[_Looker] = SimpleQueue()
        for looker in self._all:
            self._idle.put(looker)
        self._threads = ThreadPoolExecutor(jobs)

    def __enter__(self) -> Lookers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.shutdown(cancel_futures=True)
        for looker in self._all:
            looker.end()

    def look(
        self, library: str, questions: Questions, modules: Sequence[Module]
    ) -> Iterator[Facts]:
        """The facts of each module, in their order."""
        done = 0
        if self._all:
            batches = [modules[at : at + _BATCH] for at in range(0, len(modules), _BATCH)]
            try:
                for found in self._threads.map(self._look, [library] * len(batches), batches):
                    yield from found
                    done += len(found)
            except (OSError, EOFError, pickle.UnpicklingError):  # one was killed, say
                self._end_all()
        for module, content in modules[done:]:
            yield facts(module, content, questions)

    def _look(self, library: str, modules: Sequence[Module]) -> list[Facts]:
        looker = self._idle.get()
        try:
            return looker.look(library, modules)
        finally:
            self._idle.put(looker)

    def _end_all(self) -> None:
        while self._all:
            self._all.pop().end()


class _Looker:
    """One process that looks at modules, started when it is first asked."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def look(self, library: str, modules: Sequence[Module]) -> list[Facts]:
        if self._process is None:
            self._process = subprocess.Popen(
                command("patchkit.scan.looker"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump((library, list(modules)), self._process.stdin)
        self._process.stdin.flush()
        found: list[Facts] = pickle.load(self._process.stdout)
        return found

    def end(self) -> None:
        if self._process is not None:
            with contextlib.suppress(OSError), self._process:
                self._process.kill()

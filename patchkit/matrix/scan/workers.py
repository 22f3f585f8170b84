"""Gather facts of modules in several processes.

`python -m patchkit.matrix.scan.workers` is such a process: it reads pickles of a library's name,
the ids of patches and some modules, writes pickles of their facts, and ends when its input does.
Those that `multiprocessing` spawns would import what lies in the working directory.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from queue import SimpleQueue
from types import TracebackType

from ...catalogue.entries import Catalogue, load
from ...children import command, take_standard_output
from .facts import Facts, facts
from .questions import Questions

_BATCH = 16
"""Number of modules that a process is handed at once."""

Module = tuple[str, bytes]
"""The name of a module, and the content of its file."""


def library_questions(
    entries: Catalogue, library: str, ids: Collection[str] | None = None
) -> Questions:
    """Return what the patches of a library look for; of these ids alone, if there are any."""
    return Questions(
        entry.patch
        for entry in entries
        if entry.patch.library == library and (ids is None or entry.patch.id in ids)
    )


class Workers:
    """Processes that gather facts, each with its own catalogue; one job runs in this process."""

    def __init__(self, jobs: int) -> None:
        # Not forked: threads that download run here.
        self._all = [_Worker() for _ in range(jobs)] if jobs > 1 else []
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._all:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(jobs)

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        cls: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.shutdown(cancel_futures=True)
        for worker in self._all:
            worker.end()

    def gather(
        self, library: str, questions: Questions, modules: Sequence[Module]
    ) -> Iterator[Facts]:
        """Yield the facts of each module, in their order."""
        done = 0
        if self._all:
            ids = tuple(patch.id for patch in questions.patches)
            batches = [modules[at : at + _BATCH] for at in range(0, len(modules), _BATCH)]
            try:
                for batch_facts in self._threads.map(
                    self._gather, [library] * len(batches), [ids] * len(batches), batches
                ):
                    yield from batch_facts
                    done += len(batch_facts)
            except (OSError, EOFError, pickle.UnpicklingError):  # one was killed, say
                self._end_all()
        for module, content in modules[done:]:
            yield facts(module, content, questions)

    def _gather(self, library: str, ids: tuple[str, ...], modules: Sequence[Module]) -> list[Facts]:
        worker = self._idle.get()
        try:
            return worker.gather(library, ids, modules)
        finally:
            self._idle.put(worker)

    def _end_all(self) -> None:
        while self._all:
            self._all.pop().end()


class _Worker:
    """A process that gathers facts, started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def gather(self, library: str, ids: tuple[str, ...], modules: Sequence[Module]) -> list[Facts]:
        if self._process is None:
            self._process = subprocess.Popen(
                command("patchkit.matrix.scan.workers"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump((library, ids, list(modules)), self._process.stdin)
        self._process.stdin.flush()
        answers: list[Facts] = pickle.load(self._process.stdout)
        return answers

    def end(self) -> None:
        if self._process is not None:
            with contextlib.suppress(OSError), self._process:
                self._process.kill()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted, and ends this
    output = take_standard_output()
    with os.fdopen(os.dup(0), "rb") as requests:
        while requests.peek(1):
            library, ids, modules = pickle.load(requests)
            questions = _questions(library, ids)
            answers = [facts(module, content, questions) for module, content in modules]
            pickle.dump(answers, output)
            output.flush()


@cache
def _questions(library: str, ids: tuple[str, ...]) -> Questions:
    return library_questions(load(), library, ids)


if __name__ == "__main__":
    main()

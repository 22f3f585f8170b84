"""Gather facts of modules, in this process or in several."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial

from ...catalogue.entries import Catalogue, load
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


def processes(jobs: int) -> ProcessPoolExecutor:
    """Return so many processes that gather facts, each with its own catalogue."""
    # Not forked: threads that download run here. An interruption is for this process, which ends
    # the others.
    return ProcessPoolExecutor(
        jobs,
        multiprocessing.get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )


def gather(
    pool: ProcessPoolExecutor | None,
    library: str,
    questions: Questions,
    modules: Sequence[Module],
) -> list[Facts]:
    """Return the facts of each module, in their order; without a pool from this process."""
    if pool is not None:
        ids = tuple(patch.id for patch in questions.patches)
        with contextlib.suppress(BrokenProcessPool):  # one was killed, say
            return list(pool.map(partial(_facts, library, ids), modules, chunksize=_BATCH))
    return [facts(module, content, questions) for module, content in modules]


def _facts(library: str, ids: tuple[str, ...], module: Module) -> Facts:
    return facts(*module, _questions(library, ids))


@cache
def _questions(library: str, ids: tuple[str, ...]) -> Questions:
    return library_questions(load(), library, ids)

"""The reproducer of every patch, as `patchkit verify` runs them: the matrix takes the verdicts."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator
from typing import Any

from .parts import Row

ALONE = ("trl-generation-cast",)
"""Patches whose reproducers take most of the memory of a GPU."""
MOST_JOBS = 8


def units() -> list[str]:
    from patchkit.catalogue import entries

    return [entry.patch.id for entry in entries.load()]


def rows(units: list[str]) -> Iterator[Row]:
    """Verify the due patches first, then the others; a row for each as it comes."""
    from patchkit.catalogue import entries
    from patchkit.catalogue.resolution import resolve
    from patchkit.verification.machine import environment

    yield {"environment": vars(environment())}
    due = {entry.patch.id for entry in entries.load() if resolve(entry.patch).verdict is None}
    alone = [unit for unit in units if unit in ALONE]
    shared = [unit for unit in units if unit not in ALONE]
    jobs = max(1, min((os.cpu_count() or 1) // 2, MOST_JOBS))
    yield from _verified([unit for unit in shared if unit in due], jobs)
    yield from _verified(alone, 1)
    yield from _verified([unit for unit in shared if unit not in due], jobs)


def _verified(ids: list[str], jobs: int) -> Iterator[Row]:
    from patchkit.verification.verification import verify

    if not ids:
        return
    verdicts: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def run() -> None:
        try:
            verify(ids, everywhere=True, jobs=jobs, progress=verdicts.put)
        except Exception as error:
            verdicts.put(error)
        verdicts.put(None)

    threading.Thread(target=run, daemon=True).start()
    while (verdict := verdicts.get()) is not None:
        if isinstance(verdict, Exception):
            raise verdict
        yield {"unit": verdict.id, "outcome": verdict.outcome, "verdict": vars(verdict)}

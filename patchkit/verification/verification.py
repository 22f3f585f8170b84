"""Show each bug, and its absence with the patch: reproducers in fresh processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from re import search
from typing import Any

from ..catalogue.entries import Entry
from ..catalogue.folders import Paths
from ..catalogue.resolution import resolve
from ..errors import UnreadableVersion
from ..matrix.lookup import reason_not_due
from ..matrix.outcome_table import EXIT_STATUSES
from ..patch import Patch, Requirement, Status
from .forking import ForkRunner
from .machine import description, may_have_cuda, missing_requirements
from .spawning import SpawnRunner
from .verdicts import NO_ERROR, Verdict

TIMEOUT = 600
"""Seconds that one reproducer may take."""
SCHEMA = 1
_MOST_JOBS = 4
"""Each process holds torch, and most of a gigabyte."""


class Verification(tuple[Verdict, ...]):
    """The verdicts on several patches.

    Prints as a table; `to_dict` also has the environment.
    """

    @property
    def exit_status(self) -> int:
        """0 if all is well, 1 if a due patch does not fix, 2 if a due bug does not show.

        It is also 1 if a reproducer failed for another reason.
        """
        statuses = {EXIT_STATUSES.get(verdict.outcome, 0) for verdict in self}
        return 1 if 1 in statuses else max(statuses, default=0)

    def to_dict(self) -> dict[str, Any]:
        from .machine import environment

        return {
            "schema": SCHEMA,
            "environment": vars(environment()),
            "verdicts": [vars(verdict) for verdict in self],
        }

    def __repr__(self) -> str:
        from .text import tally

        return f"<Verification: {tally(self)}>"

    def __str__(self) -> str:
        from ..reporting.text import plain_text
        from .text import as_table

        return plain_text(as_table(self))

    def _repr_html_(self) -> str:
        from .text import as_html

        return as_html(self)


@dataclass(frozen=True)
class _Task:
    """A patch whose reproducer is to run, and what this machine lacks to show the whole bug."""

    patch: Patch
    due: bool
    lacking: tuple[Requirement, ...] = ()


def verify(
    only: str | Iterable[str] | None = None,
    *,
    everywhere: bool = False,
    fork: bool = False,
    jobs: int | None = None,
    patches: Paths | None = None,
    progress: Callable[[Verdict], None] = lambda verdict: None,
) -> Verification:
    """Do what `patchkit.verify` does, whose docstring explains the arguments.

    `progress` is called with each verdict as it comes, perhaps from another thread.
    """
    from ..engine.session import SESSION

    SESSION.add(patches)
    catalogue = SESSION.catalogue
    chosen = set(catalogue.entries) if only is None else catalogue.matching_ids(only, "only=")
    tasks = [_task(entry, everywhere) for entry in catalogue if entry.patch.id in chosen]
    if only is None:
        tasks += [Verdict(entry.name, "error", str(entry.error)) for entry in catalogue.broken]

    # Importing bitsandbytes starts CUDA, which no fork can use after that.
    runner = ForkRunner if fork and not may_have_cuda() else SpawnRunner
    reproduce = runner(TIMEOUT, SESSION.local_patches)
    interrupted = False

    def run(task: _Task | Verdict) -> Verdict:
        verdict = task if isinstance(task, Verdict) else _verdict(task, reproduce)
        if not interrupted:
            progress(verdict)
        return verdict

    with ThreadPoolExecutor(jobs or min(os.cpu_count() or 1, _MOST_JOBS)) as pool:
        try:
            return Verification(pool.map(run, tasks))
        except BaseException:
            interrupted = True
            reproduce.stop()
            raise


def _task(entry: Entry, everywhere: bool) -> _Task | Verdict:
    """Return the reproducer to run, or the verdict if it is known without running anything."""
    patch = entry.patch
    try:
        resolution = resolve(patch)
    except ValueError as error:
        advice = f"; {error.advice}" if isinstance(error, UnreadableVersion) else ""
        return Verdict(patch.id, "error", f"{error}{advice}")
    due = resolution.verdict is None
    if resolution.verdict is Status.NOT_INSTALLED or not (due or everywhere):
        return Verdict(patch.id, "not-affected", reason_not_due(patch, resolution))
    if entry.reproduce is None:
        return Verdict(patch.id, "error", "the patch has no reproducer")
    lacking = tuple(missing_requirements(patch.requires))
    if lacking and entry.reproduce_anywhere is None:
        outcome = lacking[0].outcome if due else "not-affected"
        return Verdict(patch.id, outcome, f"the reproducer needs {description(lacking)}")
    return _Task(patch, due, lacking)


def _verdict(task: _Task, reproduce: Callable[[str, bool], dict[str, Any]]) -> Verdict:
    patch = task.patch
    without = reproduce(patch.id, False)
    shown = without["outcome"] == "raised" and bool(search(patch.symptom, without["message"]))
    unclear = not shown and without["outcome"] != "passed"
    if not task.due:
        unclear = unclear or bool(task.lacking and not shown)
        outcome = "not-affected" if unclear else "present" if shown else "absent"
        return Verdict(patch.id, outcome, _line(without))
    patched = reproduce(patch.id, True)
    fixed = patched["outcome"] == "passed"
    if unclear:
        outcome = "error"
    elif not fixed:
        outcome = "not-fixed" if shown else "made-worse"
    else:
        outcome = "fixed" if shown else "not-reproduced"
    if outcome == "fixed" and task.lacking:
        outcome = task.lacking[0].outcome
    return Verdict(patch.id, outcome, _line(without), _line(patched))


def _line(outcome: dict[str, Any]) -> str:
    if outcome["outcome"] == "passed":
        return NO_ERROR
    message = " ".join(outcome.get("message", "").split())
    return f"{outcome.get('type', outcome['outcome'])}: {message}"[:300]

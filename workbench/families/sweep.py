"""Try many model types in many modes, each in forks of two processes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from patchkit.errors import UsageError

from ..sweep.limits import lack_of, may_be_lack_of_memory
from ..sweep.processes import Processes, SweepError
from ..sweep.trial import Trial
from . import serving
from .journal import FamilyJournal
from .model_types import TASKS
from .modes import Mode
from .quantizers import IMPORTS
from .records import Build, FamilyCell, ModelSubject

_ROOM = __package__
Progress = Callable[[str, int, int], None]
"""Called with what was done last, the number of cells done, and that of all."""


@dataclass(frozen=True)
class FamilySelection:
    """What is to be tried.

    Args:
        tasks: names of tasks.
        types: names or globs of model types; all for none.
        modes: the modes.
        methods: names of methods.
        among: no other cells than these; None for all.
    """

    tasks: tuple[str, ...]
    types: tuple[str, ...]
    modes: tuple[Mode, ...]
    methods: tuple[str, ...]
    among: frozenset[FamilyCell] | None = None

    @property
    def quantizers(self) -> bool:
        """Whether any mode has a quantizer other than bitsandbytes."""
        return any(mode.quantizer for mode in self.modes)

    @property
    def environment(self) -> str:
        """The function of `serving` that tells what the results depend on."""
        return "environment_of_quantizers" if self.quantizers else "environment"

    @property
    def preparations(self) -> tuple[str, ...]:
        """What the processes do before they import what every cell needs."""
        trainers = any(TASKS[task].trainer for task in self.tasks)
        return (*[IMPORTS] * self.quantizers, *[f"{serving.__name__}:import_trainers"] * trainers)

    def cells(self, subject: ModelSubject) -> list[FamilyCell]:
        return [
            FamilyCell(subject, mode.name, method)
            for mode in self.modes
            for method in self.methods
            if mode.allows(method)
            and (self.among is None or FamilyCell(subject, mode.name, method) in self.among)
        ]

    def includes(self, cell: FamilyCell) -> bool:
        """Tell whether a cell belongs to what is to be tried."""
        return (
            self.includes_subject(cell.subject)
            and cell.method in self.methods
            and any(cell.mode == mode.name for mode in self.modes)
        )

    def includes_subject(self, subject: ModelSubject) -> bool:
        return subject.task in self.tasks and (
            not self.types or any(fnmatchcase(subject.type, glob) for glob in self.types)
        )

    def subjects(self, known: dict[str, list[str]]) -> list[ModelSubject]:
        """Return the model types that are to be tried.

        Args:
            known: the names of all types, by task.

        Raises:
            UsageError: a name or glob stands for no type of these tasks.
        """
        every = [ModelSubject(task, name) for task in self.tasks for name in known[task]]
        for glob in self.types:
            if not any(fnmatchcase(subject.type, glob) for subject in every):
                near = get_close_matches(glob, [subject.type for subject in every], n=3)
                hint = f"; did you mean {' or '.join(near)}?" if near else ""
                raise UsageError(f"no model type {glob!r} for {', '.join(self.tasks)}{hint}")
        return [subject for subject in every if self.includes_subject(subject)]


@dataclass(frozen=True)
class SweepLimits:
    """The memory and the time that a cell may take.

    Args:
        memory: GiB of address space, in addition to that of the libraries.
        seconds: time.
    """

    memory: float
    seconds: float


def sweep(
    selection: FamilySelection,
    journal: FamilyJournal,
    *,
    limits: SweepLimits,
    jobs: int,
    progress: Progress = lambda label, done, total: None,
) -> None:
    """Try what is selected and not in the journal yet, and write it there.

    Args:
        selection: what is to be tried.
        journal: the results so far.
        limits: for each cell.
        jobs: number of model types that are tried at once.
        progress: called after each cell, from any thread.

    Raises:
        UsageError: the selection names something unknown, the journal comes from another
            environment, or this platform does not fork.
        SweepError: the libraries cannot be imported, or the process that has imported them was
            ended from outside.
    """
    if not hasattr(os, "fork"):
        raise UsageError("model types are tried in forks, and this platform has none")
    with tempfile.TemporaryDirectory() as folder:
        workshop = _FamilyWorkshop(Path(folder), journal, limits, selection.preparations)
        try:
            progress("importing the libraries", 0, 0)
            subjects = selection.subjects(workshop.ask(f"{_ROOM}.model_types:names_by_task"))
            journal.begin(workshop.ask(f"{_ROOM}.serving:{selection.environment}"))
            _try_all(subjects, selection, workshop, jobs, progress)
        finally:
            workshop.stop()


def _try_all(
    subjects: Iterable[ModelSubject],
    selection: FamilySelection,
    workshop: _FamilyWorkshop,
    jobs: int,
    progress: Progress,
) -> None:
    wanted = [(subject, cells) for subject in subjects if (cells := selection.cells(subject))]
    total = sum(len(cells) for _, cells in wanted)
    done = 0

    def count(label: str, number: int) -> None:
        nonlocal done
        done += number
        progress(label, done, total)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for future in [
                pool.submit(workshop.try_subject, subject, cells, count)
                for subject, cells in wanted
            ]:
                future.result()
        except BaseException:
            workshop.stop()
            pool.shutdown(cancel_futures=True)
            raise


class _FamilyWorkshop(Processes):
    """The processes of a sweep, and the folder of their checkpoints."""

    def __init__(
        self,
        folder: Path,
        journal: FamilyJournal,
        limits: SweepLimits,
        preparations: tuple[str, ...],
    ) -> None:
        self._folder = folder
        self._journal = journal
        self._limits = limits
        self._stopped = False
        super().__init__(folder, serving.__name__, preparations)

    def try_subject(
        self, subject: ModelSubject, cells: list[FamilyCell], count: Callable[[str, int], None]
    ) -> None:
        """Try the cells of a model type that have no result yet."""
        missing = [cell for cell in cells if not self._journal.has(cell)]
        known = self._journal.builds.get(subject)
        if self._stopped:
            return
        if not missing:
            count(subject.type, len(cells))
            return
        count(subject.type, len(cells) - len(missing))
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            build = self._build(subject, folder)
            if self._stopped:
                return
            if build != known:  # a model that could not be built is tried again
                self._journal.add_build(build)
            if build.error:
                count(f"{subject.type}: {build.error}", len(missing))
                return
            for cell in missing:
                for patched in (False, True):
                    if (cell, patched) not in self._journal.trials:
                        trial = self._try(cell, folder, patched)
                        if self._stopped:
                            return
                        self._journal.add(cell, patched, trial)
                count(f"{subject.type} {cell.mode} {cell.method}", 1)

    def stop(self) -> None:
        """End all processes."""
        self._stopped = True
        super().stop()

    def _build(self, subject: ModelSubject, folder: str) -> Build:
        answer = self._call_within_memory(
            False,
            f"{_ROOM}.building:build",
            {"task": subject.task, "model_type": subject.type, "folder": folder},
        )
        return (
            Build(subject, error=answer["message"])
            if "outcome" in answer
            else Build(subject, **answer)
        )

    def _try(self, cell: FamilyCell, checkpoints: str, patched: bool) -> Trial:
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            answer = self._call_within_memory(
                patched,
                f"{_ROOM}.trial:attempt",
                {
                    "task": cell.subject.task,
                    "mode": cell.mode,
                    "method": cell.method,
                    "checkpoints": checkpoints,
                    "folder": folder,
                },
            )
        return Trial.of(answer)

    def _call_within_memory(
        self, patched: bool, function: str, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """Return what a function returns in a fork that has a limit of memory.

        If it died, or failed in a way in which lack of memory may show, call it once more without
        the limit. What works then needs more memory; what does not has another reason.
        """
        memory = self._limits.memory
        answer = self._call(patched, function, {**arguments, "memory": memory})
        if self._stopped or not memory or not may_be_lack_of_memory(answer):
            return answer
        unlimited = self._call(patched, function, {**arguments, "memory": 0})
        if "outcome" in unlimited or unlimited.get("error"):
            return unlimited
        lack = lack_of(memory)
        return (
            {"outcome": "error", "message": lack}
            if "outcome" in answer
            else answer | {"error": lack}
        )

    def _call(self, patched: bool, function: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what a function returns in a fork.

        Raises:
            SweepError: the process of all forks was ended, which says nothing about a model type.
        """
        server = self.server(patched)
        answer = server.call(function, arguments, timeout=self._limits.seconds)
        if server.ended and "outcome" in answer and not self._stopped:
            raise SweepError(
                f"{answer['message']}: all attempts start there, and none can any more. -9 is what "
                "a machine without memory left does: give it fewer --jobs, or end other programs. "
                "Results are kept in --output, and the same command goes on"
            )
        return answer

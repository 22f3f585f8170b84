"""Try many cells, each in two ranks that are forks of a process with or without patchkit."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patchkit.errors import UsageError

from ..families.modes import Mode
from ..sweep.grid import Progress, choose, in_turn
from ..sweep.processes import Processes
from ..sweep.trial import Trial
from . import serving
from .records import RankCell, RankJournal
from .strategies import STRATEGIES

RANKS = 2
METHODS = ("lora", "full")
TRAINERS = ("sft", "dpo", "grpo", "reward", "kto", "rloo")
_USUAL_TRAINERS = TRAINERS[:4]
_ROOM = __package__
_BY_ANOTHER = ("Connection closed by peer", "Connection reset by peer", "Broken pipe")
"""What a rank says whose peer has ended."""


@dataclass(frozen=True)
class RankSelection:
    """What is to be tried.

    Args:
        strategies: names of strategies.
        trainers: short names of trainers.
        modes: the modes.
        methods: `lora`, `full` or both.
    """

    strategies: tuple[str, ...]
    trainers: tuple[str, ...]
    modes: tuple[Mode, ...]
    methods: tuple[str, ...]

    @classmethod
    def of(
        cls,
        strategies: Sequence[str],
        trainers: Sequence[str],
        modes: tuple[Mode, ...],
        methods: Sequence[str],
    ) -> RankSelection:
        """Return a selection by names and globs; the usual ones for what is not named.

        Raises:
            UsageError: a glob names nothing.
        """
        return cls(
            choose("strategy", strategies or ("*",), STRATEGIES),
            choose("trainer", trainers or _USUAL_TRAINERS, TRAINERS),
            modes,
            choose("method", methods or METHODS, METHODS),
        )

    def cells(self) -> Iterator[RankCell]:
        for strategy in self.strategies:
            for trainer in self.trainers:
                for mode in self.modes:
                    for method in self.methods:
                        if mode.allows(method):
                            yield RankCell(strategy, trainer, mode.name, method)


def sweep(
    selection: RankSelection,
    journal: RankJournal,
    *,
    seconds: float,
    progress: Progress | None = None,
) -> None:
    """Try what is selected and not in the journal yet, and write it there.

    Args:
        selection: what is to be tried.
        journal: the results so far.
        seconds: what each attempt may take.
        progress: None if nobody wants to know.

    Raises:
        UsageError: the journal comes from another environment, or this platform does not fork.
        SweepError: the libraries cannot be imported.
    """
    if not hasattr(os, "fork"):
        raise UsageError("ranks are forks, and this platform has none")
    with tempfile.TemporaryDirectory() as folder:
        workshop = _RankWorkshop(Path(folder), seconds)
        try:
            if progress is not None:
                progress("importing the libraries", 0, 0)
            journal.begin(workshop.prepare(selection))
            for cell in in_turn(list(selection.cells()), progress):
                for patched in (False, True):
                    if (cell, patched) not in journal.trials:
                        journal.add(cell, patched, workshop.attempt(cell, patched))
        finally:
            workshop.stop()


class _RankWorkshop(Processes):
    """The processes of a sweep, and the folder of their checkpoints."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self._folder = folder
        self._seconds = seconds
        self._models = folder / "models"
        super().__init__(folder, serving.__name__, environment={"DS_ACCELERATOR": "cpu"})
        self._pool = ThreadPoolExecutor(RANKS)

    def prepare(self, selection: RankSelection) -> dict[str, Any]:
        """Make the models of a selection, and return what the figures depend on.

        Raises:
            SweepError: the libraries cannot be imported, or the models cannot be made.
        """
        precisions = [mode.precision for mode in selection.modes]
        dtypes = {
            dtype for precision in precisions for dtype in (precision.checkpoint, precision.compute)
        }
        return self.ask(
            f"{serving.__name__}:prepare",
            {"trainers": selection.trainers, "dtypes": sorted(dtypes), "folder": str(self._models)},
        )

    def attempt(self, cell: RankCell, patched: bool) -> Trial:
        """Train in all ranks, and load what they have saved where patchkit is not applied."""
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            arguments = {**vars(cell), "models": str(self._models), "folder": folder}
            trial = self._train(arguments, patched)
            if not trial.worked:
                return trial
            loaded = Trial.of(self._call(False, f"{_ROOM}.checkpoint:load", arguments))
        return Trial(
            loaded.step,
            loaded.error,
            {**trial.figures, **loaded.figures},
            round(trial.seconds + loaded.seconds, 2),
        )

    def stop(self) -> None:
        """End all processes."""
        super().stop()
        self._pool.shutdown()

    def _train(self, arguments: dict[str, Any], patched: bool) -> Trial:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        running = [
            self._pool.submit(
                self._call, patched, f"{_ROOM}.trial:attempt", arguments, _variables(rank, port)
            )
            for rank in range(RANKS)
        ]
        return merged([Trial.of(future.result()) for future in running])

    def _call(
        self,
        patched: bool,
        function: str,
        arguments: dict[str, Any],
        environment: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        return self.server(patched).call(
            function, arguments, timeout=self._seconds, environment=environment
        )


def merged(trials: Sequence[Trial]) -> Trial:
    """Return the trial of a cell from those of its ranks: the figures of each, or an error.

    If ranks fail, the first one that failed on its own counts.
    """
    failed = [trial for trial in trials if not trial.worked]
    failed.sort(key=lambda trial: any(text in trial.error for text in _BY_ANOTHER))
    names = dict.fromkeys(name for trial in trials for name in trial.figures)
    return Trial(
        failed[0].step if failed else "",
        failed[0].error if failed else "",
        {name: [trial.figures.get(name) for trial in trials] for name in names},
        max(trial.seconds for trial in trials),
    )


def _variables(rank: int, port: int) -> dict[str, str]:
    """Return what torchrun tells a rank."""
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(RANKS),
        "LOCAL_WORLD_SIZE": str(RANKS),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }

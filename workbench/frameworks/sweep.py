"""Start each training plainly and with patchkit, a process each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from patchkit.about import __version__
from patchkit.environment import installed_version, python_and_platform
from patchkit.errors import UsageError
from patchkit.lab import tiny

from ..families.modes import Mode, find_mode
from ..sweep.grid import Progress, choose, in_turn
from ..sweep.trial import Trial
from ..sweep.verdicts import judge_trials
from .data import write_datasets
from .framework import Training
from .known import LEFT_OUT, explanation
from .records import EXCLUDE, STEPS, WAYS, FrameworkCell, FrameworkJournal
from .running import run
from .tried import FRAMEWORKS

METHODS = ("lora", "full")
_USUAL_WAYS = WAYS[:2]


@dataclass(frozen=True)
class FrameworkSelection:
    """What is to be tried.

    Args:
        frameworks: names of frameworks.
        tasks: globs for tasks.
        modes: the modes.
        ways: how patchkit is loaded.
    """

    frameworks: tuple[str, ...]
    tasks: tuple[str, ...]
    modes: tuple[Mode, ...]
    ways: tuple[str, ...] = _USUAL_WAYS

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        version_set: str | None,
        tasks: Sequence[str],
        modes: tuple[Mode, ...],
        ways: Sequence[str],
    ) -> FrameworkSelection:
        """Return a selection by names and globs; all for what is not named.

        Args:
            names: of frameworks.
            version_set: the set that installs them; None for any.
            tasks: of tasks.
            modes: the modes.
            ways: how patchkit is loaded.

        Raises:
            UsageError: a glob, or the set, names nothing.
        """
        wanted = choose("framework", names or ("*",), FRAMEWORKS)
        sets = {framework.version_set for framework in FRAMEWORKS.values()}
        if version_set not in (None, *sets):
            raise UsageError(f"no set {version_set!r}; there are {', '.join(sorted(sets))}")
        chosen = tuple(
            name
            for name in wanted
            if version_set in (None, FRAMEWORKS[name].version_set)
            and any(_named(task, tasks) for task in FRAMEWORKS[name].tasks)
        )
        if not chosen:
            raise UsageError("no framework has that task, or that set")
        return cls(chosen, tuple(tasks), modes, tuple(ways) or _USUAL_WAYS)

    def cells(self) -> Iterator[FrameworkCell]:
        for name in self.frameworks:
            for task, methods in FRAMEWORKS[name].tasks.items():
                for method in methods if _named(task, self.tasks) else ():
                    for mode in self.modes:
                        for way in self.ways if mode.allows(method) else ():
                            yield FrameworkCell(name, task, method, mode.name, way)


def _named(name: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for glob in globs)


def sweep(
    selection: FrameworkSelection,
    journal: FrameworkJournal,
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
        UsageError: the journal comes from another environment, or a framework is not installed.
    """
    journal.begin(_environment(selection))
    with tempfile.TemporaryDirectory(prefix="frameworks-") as name:
        data = Path(name) / "data"
        write_datasets(data)
        for cell in in_turn(list(selection.cells()), progress):

            def attempt(way: str, cell: FrameworkCell = cell) -> Trial:
                mode = find_mode(cell.mode)
                dtype = mode.precision.checkpoint
                model = tiny.build_causal_lm(data.parent / dtype, dtype=dtype)
                training = Training(cell.task, cell.method, mode, model, data, data.parent)
                return run(FRAMEWORKS[cell.framework], training, way, seconds)

            _try(cell, journal, attempt)


def _try(cell: FrameworkCell, journal: FrameworkJournal, attempt: Callable[[str], Trial]) -> None:
    """Try a cell on the sides that are missing.

    If numbers differ, it is tried a second time without patchkit, and if that does not say why,
    without what is known to change numbers.
    """
    if (cell, False) not in journal.trials:
        others = ((replace(cell, way=way), False) for way in WAYS)
        plain = next((journal.trials[key] for key in others if key in journal.trials), None)
        journal.add(cell, False, plain or attempt("plain"))
    if (cell, True) not in journal.trials:
        journal.add(cell, True, attempt(cell.way))
    without, with_patchkit = (journal.trials[cell, patched] for patched in (False, True))
    again = replace(cell, way="again")
    verdict = judge_trials(cell, without, with_patchkit, steps=STEPS, explain=lambda other: "")
    if verdict.outcome.name != "differs":
        return
    if (again, True) not in journal.trials:
        journal.add(again, False, without)
        journal.add(again, True, attempt("plain"))
    tried: dict[str, Trial] = {}
    for patches in LEFT_OUT:
        if explanation(without, journal.trials[again, True], tried):
            return
        excluded = replace(cell, way=f"{EXCLUDE}{patches}")
        if (excluded, True) not in journal.trials:
            journal.add(excluded, False, without)
            journal.add(excluded, True, attempt(excluded.way))
        tried[patches] = journal.trials[excluded, True]


def _environment(selection: FrameworkSelection) -> dict[str, Any]:
    """Return what the figures depend on.

    Raises:
        UsageError: a framework is not installed.
    """
    sets = {FRAMEWORKS[framework].version_set for framework in selection.frameworks}
    # Those of the whole set, so that another selection of it goes on in the same file.
    names = dict.fromkeys(
        name
        for framework in FRAMEWORKS.values()
        if framework.version_set in sets
        for name in framework.distributions
    )
    versions = {name: installed_version(name) for name in (*names, "torch", "bitsandbytes")}
    for framework in selection.frameworks:
        own = FRAMEWORKS[framework].distributions[0]
        if versions[own] is None:
            raise UsageError(
                f"{own} is not installed; `tox -e frameworks-{FRAMEWORKS[framework].version_set}` "
                f"makes an environment for {framework}"
            )
    return {"versions": {"patchkit": __version__, **versions}, **python_and_platform()}

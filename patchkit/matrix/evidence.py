"""Collect the measurements that tell where the bug of a patch is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..patch import Patch, Rewrite
from .outcome_table import SCAN_TABLE, SHOWS_NO_BUG, SHOWS_THE_BUG
from .records import Matrix


@dataclass(frozen=True)
class Sighting:
    """One measurement that tells whether the bug is there.

    Args:
        versions: of the libraries that the patch claims; of the first only, where its sources
            were read.
        shows: whether the bug showed, or its code is there.
        verdict: the outcome or the state.
        device: the one that it ran on; empty if sources were read.
    """

    versions: Mapping[str, str]
    shows: bool
    verdict: str
    device: str = ""

    @property
    def is_scan(self) -> bool:
        return not self.device

    def __str__(self) -> str:
        return " with ".join(f"{name} {version}" for name, version in self.versions.items())


def _has_bug(patch: Patch, outcome: str) -> bool | None:
    """Tell whether an outcome shows the bug; None if it cannot tell.

    An opt-in patch fixes no bug: only whether it works counts.
    """
    if patch.opt_in and outcome in SHOWS_THE_BUG:
        return {"fixed": True, "not-fixed": False}.get(outcome)
    return True if outcome in SHOWS_THE_BUG else False if outcome in SHOWS_NO_BUG else None


def sightings(patch: Patch, matrix: Matrix) -> list[Sighting]:
    """Return every measurement that tells where the bug of a patch is.

    Scans of sources count only for a patch that rewrites; one that only wraps leaves nothing to
    find in them.
    """
    runs = list(_runs(patch, matrix))
    shown = {(str(run), run.device) for run in runs if run.shows}
    # A range is about versions: a bug that shows on one device is there, whatever another says.
    runs = [
        run
        for run in runs
        if run.shows or not any(at == str(run) and device != run.device for at, device in shown)
    ]
    rewrites = any(isinstance(change, Rewrite) for change in patch.changes)
    return [*runs, *(_scans(patch, matrix) if rewrites else ())]


def _runs(patch: Patch, matrix: Matrix) -> Iterator[Sighting]:
    for result in matrix.results:
        installed = result.environment.versions
        shows = _has_bug(patch, result.outcome)
        if result.patch == patch.id and shows is not None and set(patch.affects) <= set(installed):
            versions = {name: installed[name] for name in patch.affects}
            yield Sighting(versions, shows, result.outcome, result.environment.device)


def _scans(patch: Patch, matrix: Matrix) -> Iterator[Sighting]:
    # A scan finds the place of an opt-in patch, but not whether the patch works there.
    unclear = "present" if patch.opt_in else ""
    has_bug = {
        state.name: state.shows_bug
        for state in SCAN_TABLE
        if state.shows_bug is not None and state.name != unclear
    }
    for scan in matrix.scans:
        state = scan.states.get(patch.id, "")
        if scan.library == patch.library and state in has_bug:
            yield Sighting({scan.library: scan.version}, has_bug[state], state)

"""Assemble a view of the matrix, independent of its form."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..outcome_table import TELLS
from ..records import Environment, Matrix
from .environments import grid_of_sets
from .grid import Cell, Grid
from .releases import asides_of, grids_of_releases, libraries_of


@dataclass(frozen=True)
class View:
    """A view of the matrix.

    Args:
        grids: patches by columns.
        remarks: findings that need attention, one per line.
        gaps: what was not measured and why, one per line.
        asides: notes on whole releases, such as that they were yanked, one per line.
        source: dates and devices of the measurements, in one line.
        sets: the environments of each version set; empty if columns are releases.
    """

    grids: tuple[Grid, ...]
    remarks: tuple[str, ...]
    gaps: tuple[str, ...]
    asides: tuple[str, ...]
    source: str
    sets: tuple[tuple[Environment, ...], ...] = ()


def view_of(
    matrix: Matrix,
    patches: Mapping[str, str],
    selected: Iterable[str],
    libraries: Collection[str] = (),
    *,
    by: str = "release",
) -> View:
    """Return patches by releases of the library that they fix, or by sets of versions.

    Args:
        matrix: the measurements.
        patches: id to library, of the catalogue.
        selected: ids of the patches to show.
        libraries: those to show; all by default.
        by: `release`, or `set` for the version sets that reproducers were run on.
    """
    selected = list(selected)
    sets: list[list[Environment]] = []
    if by == "set":
        grid, sets = grid_of_sets(matrix, patches, selected)
        grids = [grid] if grid.columns else []
    else:
        everything = grids_of_releases(matrix, patches, selected)
        grids = [grid for grid in everything if grid.name in libraries or not libraries]
    failures = _lines(grids, lambda cell: cell.failures)
    return View(
        tuple(grids),
        _lines(grids, lambda cell: cell.remarks),
        (*failures, *_gaps(matrix, patches, selected, libraries)),
        tuple(line for grid in grids for line in asides_of(grid, matrix)),
        _source(matrix, selected),
        tuple(map(tuple, sets)),
    )


def _lines(grids: Iterable[Grid], notes_of: Callable[[Cell], tuple[str, ...]]) -> tuple[str, ...]:
    lines = []
    for grid in grids:
        columns_by_note: dict[tuple[str, str], list[str]] = {}
        for row in grid.rows:
            for column, cell in zip(grid.columns, row.cells, strict=True):
                for note in notes_of(cell):
                    columns_by_note.setdefault((row.patch, note), []).append(column)
        library = f"{grid.name} " if grid.ticks else ""
        lines += [
            f"{patch}, {library}{grid.span_text(columns)}: {note}"
            for (patch, note), columns in columns_by_note.items()
        ]
    return tuple(lines)


def _gaps(
    matrix: Matrix,
    patches: Mapping[str, str],
    selected: Collection[str],
    libraries: Collection[str],
) -> tuple[str, ...]:
    """Return a line for each patch, release or version set that was not measured.

    Releases and version sets are those of the given libraries; of all, if none is given.
    """
    concerned = set(libraries) or {
        library for patch in selected for library in libraries_of(patch, matrix, patches)
    }
    lines: list[str] = []
    for patch in selected:
        lines += _patch_gaps(patch, matrix, patches)
    releases = [scan for scan in matrix.scans if scan.problem and scan.library in concerned]
    lines += [f"{scan.library} {scan.version}, not read: {scan.problem}" for scan in releases]
    for skipped in sorted(matrix.unmeasured, key=lambda skipped: skipped.name):
        if not concerned or concerned & skipped.versions.keys():
            pins = ", ".join(f"{name} {version}" for name, version in skipped.versions.items())
            lines.append(f"version set {skipped.name} ({pins}), not run: {skipped.problem}")
    return tuple(lines)


def _patch_gaps(patch: str, matrix: Matrix, patches: Mapping[str, str]) -> Iterator[str]:
    outcomes = {result.outcome for result in matrix.results if result.patch == patch}
    was_read = any(patch in scan.states for scan in matrix.scans)
    sources = "only its sources were read" if was_read else "nothing was read either"
    if not outcomes and not was_read:
        yield f"{patch}: nothing was run or read"
    elif not outcomes:
        yield f"{patch}: never run; {sources}"
    elif not outcomes & TELLS:
        yield f"{patch}: never run to an end ({', '.join(sorted(outcomes))}); {sources}"
    if outcomes and not libraries_of(patch, matrix, patches):
        yield (
            f"{patch}: not in the catalogue, and its library is not known; --by set shows what "
            "was run"
        )


def _source(matrix: Matrix, selected: Iterable[str]) -> str:
    ids = set(selected)
    places = [result.environment for result in matrix.results if result.patch in ids]
    devices = ", ".join(sorted({environment.device for environment in places}))
    read = [scan.date for scan in matrix.scans if ids & scan.states.keys()]
    parts = (
        [f"run {_days(environment.date for environment in places)} on {devices}"] if places else []
    )
    parts += [f"sources read {_days(read)}"] if read else []
    return "; ".join(parts) or "nothing"


def _days(dates: Iterable[str]) -> str:
    days = sorted(set(dates))
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"

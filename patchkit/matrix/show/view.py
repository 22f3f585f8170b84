"""All that is shown, before anyone decides how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..records import Environment, Matrix
from .asides import asides_of
from .environments import grid_of_sets
from .gaps import gaps
from .grid import Grid
from .releases import grids_of_releases


@dataclass(frozen=True)
class View:
    """A matrix to be shown.

    Args:
        grids: patches by columns.
        remarks: what someone has to look into, in lines.
        gaps: what was not measured and why, in lines.
        asides: what was noted of whole releases, such as that they were yanked, in lines.
        source: when and on what it was measured, in one line.
        sets: for each column of version sets where it was run; empty where columns are releases.
    """

    grids: tuple[Grid, ...]
    remarks: tuple[str, ...]
    gaps: tuple[str, ...]
    asides: tuple[str, ...]
    source: str
    sets: tuple[tuple[Environment, ...], ...] = ()


def by_release(
    matrix: Matrix, patches: Mapping[str, str], chosen: Iterable[str], libraries: Iterable[str] = ()
) -> View:
    """Patches by releases of the library that they mend.

    Args:
        matrix: what was measured.
        patches: id to library, of the patches that the catalogue has.
        chosen: ids in the order of rows, whether the catalogue has them or only the matrix.
        libraries: the libraries to show; all by default.
    """
    chosen, libraries = list(chosen), set(libraries)
    grids = grids_of_releases(matrix, patches, chosen)
    shown = tuple(grid for grid in grids if grid.name in libraries or not libraries)
    missing = gaps(matrix, patches, chosen, libraries)
    asides = tuple(line for grid in shown for line in asides_of(grid, matrix))
    return View(shown, _remarks(shown), missing, asides, _source(matrix, chosen))


def by_set(
    matrix: Matrix, patches: Mapping[str, str], chosen: Iterable[str], libraries: Iterable[str] = ()
) -> View:
    """Patches by the sets of versions that reproducers were run on; arguments as above."""
    chosen = list(chosen)
    grid, where = grid_of_sets(matrix, patches, chosen)
    grids = (grid,) if grid.columns else ()
    missing = gaps(matrix, patches, chosen, set(libraries))
    source = _source(matrix, chosen)
    return View(grids, _remarks(grids), missing, (), source, tuple(map(tuple, where)))


def _remarks(grids: Iterable[Grid]) -> tuple[str, ...]:
    lines = []
    for grid in grids:
        found: dict[tuple[str, str], list[str]] = {}
        for row in grid.rows:
            for column, cell in zip(grid.columns, row.cells, strict=True):
                for remark in cell.remarks:
                    found.setdefault((row.patch, remark), []).append(column)
        library = f"{grid.name} " if grid.ticks else ""
        lines += [
            f"{patch}, {library}{grid.where(columns)}: {remark}"
            for (patch, remark), columns in found.items()
        ]
    return tuple(lines)


def _source(matrix: Matrix, chosen: Iterable[str]) -> str:
    wanted = set(chosen)
    places = [one.environment for one in matrix.results if one.patch in wanted]
    devices = ", ".join(sorted({one.device for one in places}))
    read = [one.date for one in matrix.scans if wanted & one.states.keys()]
    parts = [f"run {_days(one.date for one in places)} on {devices}"] if places else []
    parts += [f"sources read {_days(read)}"] if read else []
    return "; ".join(parts) or "nothing"


def _days(dates: Iterable[str]) -> str:
    days = sorted(set(dates))
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"

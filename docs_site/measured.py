"""Summarize the measurements of one patch in small tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from markup import table

from patchkit.matrix.outcome_table import OUTCOMES
from patchkit.matrix.records import Matrix, Result
from patchkit.matrix.show.grid import Cell, Grid, span
from patchkit.matrix.show.releases import grids_of_releases
from patchkit.patch import Patch


def measurements(patch: Patch, matrix: Matrix) -> list[str]:
    """Return lines of Markdown: the releases of the library, then the runs of the reproducer."""
    grids = grids_of_releases(matrix, {patch.id: patch.library}, [patch.id])
    lines = [line for grid in grids if grid.name == patch.library for line in _releases(grid)]
    return lines + _runs(patch, [result for result in matrix.results if result.patch == patch.id])


def _releases(grid: Grid) -> Iterator[str]:
    (row,) = grid.rows
    columns = zip(grid.columns, row.cells, strict=True)
    rows = []
    for _, group in groupby(columns, key=lambda column: column[1].state.kind):
        names, cells = zip(*group, strict=True)
        rows.append([span(names), _meanings(cells)])
    yield from ["", *table([f"releases of {grid.name}", "found"], rows)]


def _meanings(cells: Iterable[Cell]) -> str:
    numbers = Counter(cell.state.meaning for cell in cells)
    return "; ".join(f"{meaning} ({number})" for meaning, number in numbers.items())


def _runs(patch: Patch, results: list[Result]) -> list[str]:
    """Return the outcomes of its runs; for a patch of several libraries, also by their versions."""
    if not results:
        return []
    numbers = Counter(result.outcome for result in results)
    places = {
        f"{result.environment.device} with torch "
        f"{result.environment.versions.get('torch', 'absent')}"
        for result in results
    }
    lines = [
        "",
        f"Its reproducer was run on {len(results)} sets of versions ({', '.join(sorted(places))}):",
        "",
    ]
    lines += [f"- {number} `{outcome}`: {OUTCOMES[outcome]}" for outcome, number in numbers.items()]
    libraries = list(patch.affects)
    if len(libraries) == 1:
        return lines
    by_versions: dict[tuple[str, ...], set[str]] = {}
    for result in results:
        versions = tuple(result.environment.versions.get(name, "") for name in libraries)
        by_versions.setdefault(versions, set()).add(result.outcome)
    rows = ([*versions, ", ".join(sorted(found))] for versions, found in by_versions.items())
    return [*lines, "", *table([*libraries, "outcome"], rows)]

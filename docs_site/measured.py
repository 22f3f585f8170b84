"""What the matrix says of one patch, in small tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from markup import table

from patchkit.matrix import OUTCOMES, Matrix, Result
from patchkit.matrix.show.grid import Cell, Grid, span
from patchkit.matrix.show.releases import grids_of_releases
from patchkit.patch import Patch


def measurements(patch: Patch, matrix: Matrix) -> list[str]:
    """Lines of Markdown: by releases of the library, then what was run."""
    grids = grids_of_releases(matrix, {patch.id: patch.library}, [patch.id])
    lines = [line for grid in grids if grid.name == patch.library for line in _releases(grid)]
    return lines + _runs(patch, [one for one in matrix.results if one.patch == patch.id])


def _releases(grid: Grid) -> Iterator[str]:
    (row,) = grid.rows
    columns = zip(grid.columns, row.cells, strict=True)
    rows = []
    for _, group in groupby(columns, key=lambda it: it[1].state.kind):
        names, cells = zip(*group, strict=True)
        rows.append([span(names), _found(cells)])
    yield from ["", *table([f"releases of {grid.name}", "found"], rows)]


def _found(cells: Iterable[Cell]) -> str:
    numbers = Counter(cell.state.meaning for cell in cells)
    return "; ".join(f"{meaning} ({number})" for meaning, number in numbers.items())


def _runs(patch: Patch, results: list[Result]) -> list[str]:
    """What was run, in a sentence; for a patch of several libraries also with which of them."""
    if not results:
        return []
    numbers = Counter(one.outcome for one in results)
    places = {
        f"{one.environment.device} with torch {one.environment.versions.get('torch', 'absent')}"
        for one in results
    }
    lines = [
        "",
        f"Its reproducer was run on {len(results)} sets of versions ({_listed(places)}):",
        "",
    ]
    lines += [f"- {number} `{outcome}`: {OUTCOMES[outcome]}" for outcome, number in numbers.items()]
    libraries = list(patch.affects)
    if len(libraries) == 1:
        return lines
    found: dict[tuple[str, ...], set[str]] = {}
    for one in results:
        versions = tuple(one.environment.versions.get(name, "") for name in libraries)
        found.setdefault(versions, set()).add(one.outcome)
    rows = ([*versions, _listed(outcomes)] for versions, outcomes in found.items())
    return [*lines, "", *table([*libraries, "outcome"], rows)]


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(sorted(texts))

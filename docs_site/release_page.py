"""List the releases of each library with the bugs that they have."""

from __future__ import annotations

from collections.abc import Iterator

from markup import table
from table_filter import box

from patchkit.catalogue.entries import Catalogue
from patchkit.matrix.records import Matrix
from patchkit.matrix.show.grid import Grid
from patchkit.matrix.show.releases import grids_of_releases
from patchkit.matrix.show.states import ATTENTION, FAILS, FIXED, MATCHES, NEEDS_MACHINE

RELEASES = "<!-- releases -->"
_COLUMNS = {
    "bugs seen in a run": (FIXED,),
    "bugs found in the sources": (MATCHES,),
    "see the matrix": (FAILS, ATTENTION, NEEDS_MACHINE),
}


def fill_in(text: str, catalogue: Catalogue, measured: Matrix) -> str:
    """Put the tables into the page.

    Raises:
        ValueError: the page does not mark their place exactly once.
    """
    if text.count(RELEASES) != 1:
        raise ValueError(f"docs/releases.md must contain {RELEASES} exactly once")
    libraries = {entry.patch.id: entry.patch.library for entry in catalogue}
    grids = grids_of_releases(measured, libraries, libraries)
    lines = [
        box("Release or patch, such as trl 0.28"),
        *(line for grid in grids for line in _section(grid)),
    ]
    return text.replace(RELEASES, "\n".join(lines))


def _section(grid: Grid) -> Iterator[str]:
    """Yield a table of one library, the newest release first."""
    shown = {
        title: states
        for title, states in _COLUMNS.items()
        if any(cell.state in states for row in grid.rows for cell in row.cells)
    }
    rows = [
        [f"{grid.name} {release}", *(_patches(grid, column, states) for states in shown.values())]
        for column, release in enumerate(grid.columns)
    ]
    yield from [f"## {grid.name}", "", *table(["release", *shown], reversed(rows)), ""]


def _patches(grid: Grid, column: int, states: tuple[object, ...]) -> str:
    return ", ".join(
        f"[`{row.patch}`](patches/{row.patch}.md)"
        for row in grid.rows
        if row.known and row.cells[column].state in states
    )

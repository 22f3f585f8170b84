"""What scans noted of a release as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from ..records import Matrix
from .grid import Grid
from .releases import number


def asides_of(grid: Grid, matrix: Matrix) -> Iterator[str]:
    """Lines on the releases of a grid, those of which the same was noted together.

    A note is on the release as a whole where it is on no patch of which there is a state.
    """
    found: dict[str, list[str]] = {}
    for scan in matrix.scans:
        if scan.library == grid.name:
            for about, note in scan.notes.items():
                if about not in scan.states:
                    found.setdefault(note, []).append(str(number(scan.version)))
    for note, releases in found.items():
        yield f"{grid.name} {grid.where(releases)}: {note}"

"""List the notes of scans on whole releases."""

from __future__ import annotations

from collections.abc import Iterator

from ..records import Matrix
from .grid import Grid
from .releases import number


def asides_of(grid: Grid, matrix: Matrix) -> Iterator[str]:
    """Yield lines on the releases of a grid; releases with the same note share a line.

    A note is on the whole release if it belongs to no patch that has a state.
    """
    releases_by_note: dict[str, list[str]] = {}
    for scan in matrix.scans:
        if scan.library == grid.name:
            for about, note in scan.notes.items():
                if about not in scan.states:
                    releases_by_note.setdefault(note, []).append(str(number(scan.version)))
    for note, releases in releases_by_note.items():
        yield f"{grid.name} {grid.span_text(releases)}: {note}"

"""Make the grids of patches by releases, one per library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ..records import Matrix, Result, public_version
from .cells import cell_of
from .grid import Grid, PatchRow

if TYPE_CHECKING:
    from packaging.version import Version


def grids_of_releases(
    matrix: Matrix, patches: Mapping[str, str], selected: Iterable[str]
) -> list[Grid]:
    """Return a grid for each library of which the matrix has a release."""
    rows: dict[str, list[str]] = {}
    for patch in selected:
        for library in libraries_of(patch, matrix, patches):
            rows.setdefault(library, []).append(patch)
    grids = (_grid(library, rows[library], matrix, patches) for library in sorted(rows, key=_place))
    return [grid for grid in grids if grid.columns]


def libraries_of(patch: str, matrix: Matrix, patches: Mapping[str, str]) -> list[str]:
    """Return the libraries by whose releases a patch is shown.

    These are the one that it fixes, and others whose sources were read for it. For a patch that
    is not in the catalogue, its id tells: the library comes first.
    """
    libraries = [patches[patch]] if patch in patches else []
    libraries += [scan.library for scan in matrix.scans if patch in {*scan.states, *scan.unlisted}]
    if not libraries:
        results = (result for result in matrix.results if result.patch == patch)
        installed = {name for result in results for name in result.environment.versions}
        prefixes = [name for name in installed if patch.startswith(f"{name}-")]
        libraries = sorted(prefixes, key=len)[-1:]
    return list(dict.fromkeys(libraries))


def _place(library: str) -> tuple[bool, str]:
    # TRL first: it is looked for most.
    return library != "trl", library


def _grid(library: str, selected: list[str], matrix: Matrix, patches: Mapping[str, str]) -> Grid:
    scans = {number(scan.version): scan for scan in matrix.scans if scan.library == library}
    runs: dict[tuple[str, Version], list[Result]] = {}
    numbers = set(scans)
    for result in matrix.results:
        version = result.environment.versions.get(library)
        if version is not None:
            numbers.add(number(version))
            runs.setdefault((result.patch, number(version)), []).append(result)
    columns = sorted(numbers)
    rows = (
        PatchRow(
            patch,
            patch in patches,
            tuple(
                cell_of(patch, runs.get((patch, column), []), scans.get(column))
                for column in columns
            ),
        )
        for patch in selected
    )
    return Grid(library, tuple(map(str, columns)), tuple(rows), tuple(_ticks(columns)))


def _ticks(columns: list[Version]) -> Iterator[str]:
    """Yield a label at the first release of each minor version, else an empty one."""
    before = None
    for release in columns:
        minor = release.release[:2]
        yield "" if minor == before else ".".join(map(str, minor))
        before = minor


def number(version: str) -> Version:
    """Return the release of a version, as one that compares."""
    from packaging.version import Version

    return Version(public_version(version))


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

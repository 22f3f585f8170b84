"""Patches by releases: one grid for each library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ..records import Matrix, Result, public
from .cells import cell_of
from .grid import Grid, Row

if TYPE_CHECKING:
    from packaging.version import Version


def grids_of_releases(
    matrix: Matrix, patches: Mapping[str, str], chosen: Iterable[str]
) -> list[Grid]:
    """One grid for each library of which any release is known to the matrix.

    Args:
        matrix: what was measured.
        patches: id to library, of the patches that the catalogue has.
        chosen: ids in the order of rows, whether the catalogue has them or only the matrix.
    """
    rows: dict[str, list[str]] = {}
    for patch in chosen:
        for library in libraries_of(patch, matrix, patches):
            rows.setdefault(library, []).append(patch)
    grids = (_grid(library, rows[library], matrix, patches) for library in sorted(rows, key=_place))
    return [grid for grid in grids if grid.columns]


def libraries_of(patch: str, matrix: Matrix, patches: Mapping[str, str]) -> list[str]:
    """The libraries by whose releases a patch is shown.

    That is the one that it mends, and any other whose sources were read for it. Of a patch that
    the catalogue does not have, its id tells: the library comes first.
    """
    found = [patches[patch]] if patch in patches else []
    found += [one.library for one in matrix.scans if patch in {*one.states, *one.unlisted}]
    if not found:
        results = (one for one in matrix.results if one.patch == patch)
        installed = {name for one in results for name in one.environment.versions}
        named = [name for name in installed if patch.startswith(f"{name}-")]
        found = sorted(named, key=len)[-1:]
    return list(dict.fromkeys(found))


def _place(library: str) -> tuple[bool, str]:
    # By TRL first: that is what a person looks for.
    return library != "trl", library


def _grid(library: str, chosen: list[str], matrix: Matrix, patches: Mapping[str, str]) -> Grid:
    scans = {number(one.version): one for one in matrix.scans if one.library == library}
    ran: dict[tuple[str, Version], list[Result]] = {}
    numbers = set(scans)
    for one in matrix.results:
        version = one.environment.versions.get(library)
        if version is not None:
            numbers.add(number(version))
            ran.setdefault((one.patch, number(version)), []).append(one)
    columns = sorted(numbers)
    rows = (
        Row(
            patch,
            patch in patches,
            tuple(cell_of(patch, ran.get((patch, it), []), scans.get(it)) for it in columns),
        )
        for patch in chosen
    )
    return Grid(library, tuple(map(str, columns)), tuple(rows), tuple(_ticks(columns)))


def _ticks(columns: list[Version]) -> Iterator[str]:
    """A label at the first release of each minor version."""
    before = None
    for one in columns:
        minor = one.release[:2]
        yield "" if minor == before else ".".join(map(str, minor))
        before = minor


def number(version: str) -> Version:
    """The release that a version is of, to compare."""
    from packaging.version import Version

    return Version(public(version))

"""Select the part of a matrix to show."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...catalogue.entries import Catalogue
from ...errors import UsageError
from ..records import Matrix
from .releases import libraries_of
from .view import View, view_of


def select(
    matrix: Matrix,
    catalogue: Catalogue,
    ids: Sequence[str] = (),
    libraries: Sequence[str] = (),
    by: str = "release",
) -> View:
    """Return the view of a selection, by `release` or `set`.

    Without ids or libraries, it has all. Patches that only the matrix has come after the others.

    Raises:
        UnknownPatchError: an id is neither in the catalogue nor in the matrix.
        UsageError: a library has no patch.
    """
    patches = {entry.patch.id: entry.patch.library for entry in catalogue}
    measured = {result.patch for result in matrix.results}
    measured.update(patch for scan in matrix.scans for patch in (*scan.states, *scan.unlisted))
    everything = [*patches, *sorted(measured - patches.keys())]
    selected = _matching(ids, everything, catalogue) if ids else everything
    homes = {patch: libraries_of(patch, matrix, patches) for patch in everything}
    known_libraries = sorted(
        {library for its_libraries in homes.values() for library in its_libraries}
    )
    for library in libraries:
        if library not in known_libraries:
            raise UsageError(
                f"no patch is for {library!r}; there are: {', '.join(known_libraries)}"
            )
    if libraries:
        selected = [patch for patch in selected if set(homes[patch]) & set(libraries)]
    view = view_of(matrix, patches, selected, libraries, by=by)
    unread = (
        f"the definition {entry.name} cannot be read: {entry.error}" for entry in catalogue.broken
    )
    return replace(view, gaps=(*view.gaps, *unread))


def _matching(ids: Iterable[str], everything: Sequence[str], catalogue: Catalogue) -> list[str]:
    selected: set[str] = set()
    for name in ids:
        matched = fnmatch.filter(everything, name)
        selected.update(matched or catalogue.matching_ids(name, "IDS"))
    return [patch for patch in everything if patch in selected]

"""Which part of a matrix someone wants to see."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...catalogue import Catalogue
from ...errors import UsageError
from ..records import Matrix
from .releases import libraries_of
from .view import View, by_release, by_set


def select(
    matrix: Matrix,
    catalogue: Catalogue,
    ids: Sequence[str] = (),
    libraries: Sequence[str] = (),
    by: str = "release",
) -> View:
    """What is to be shown.

    Args:
        matrix: what was measured.
        catalogue: the patches there are; those that only the matrix knows are shown after them.
        ids: ids and globs; all patches by default.
        libraries: only patches of these libraries; of all by default.
        by: `release` or `set`.

    Raises:
        UnknownPatchError: an id is known neither to the catalogue nor to the matrix.
        UsageError: a library has no patch.
    """
    patches = {entry.patch.id: entry.patch.library for entry in catalogue}
    found = {one.patch for one in matrix.results}
    found.update(patch for one in matrix.scans for patch in (*one.states, *one.unlisted))
    everything = [*patches, *sorted(found - patches.keys())]
    chosen = _named(ids, everything, catalogue) if ids else everything
    homes = {patch: libraries_of(patch, matrix, patches) for patch in everything}
    known = sorted({library for found in homes.values() for library in found})
    for library in libraries:
        if library not in known:
            raise UsageError(f"no patch is for {library!r}; there are: {', '.join(known)}")
    if libraries:
        chosen = [patch for patch in chosen if set(homes[patch]) & set(libraries)]
    view = (by_set if by == "set" else by_release)(matrix, patches, chosen, libraries)
    unread = (f"the definition {one.name} cannot be read: {one.error}" for one in catalogue.broken)
    return replace(view, gaps=(*view.gaps, *unread))


def _named(ids: Iterable[str], everything: Sequence[str], catalogue: Catalogue) -> list[str]:
    chosen: set[str] = set()
    for name in ids:
        matched = fnmatch.filter(everything, name)
        chosen.update(matched or catalogue.named(name, "IDS"))
    return [patch for patch in everything if patch in chosen]

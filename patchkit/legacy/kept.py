"""Keep the rows that are due here: to read and compare all takes longer than the rest."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any, Protocol

from .changes import Change
from .rows import all_rows
from .versions.due import Due, due_rows, known_release

_LIBRARIES, _ROWS = "libraries of rows", "rows that are due"


class KeptFacts(Protocol):
    """Facts that processes keep for each other, under names that say all that they depend on."""

    def fact(self, *names: str) -> Any:
        """Return a fact; None if it is not known."""

    def keep_fact(self, value: Any, *names: str) -> None:
        """Keep a fact of plain data."""


def due_here(facts: KeptFacts, table: str) -> Due:
    """Return the rows of the table for the installed releases.

    Args:
        facts: what processes keep for each other.
        table: names the state of the files of the table, and of the code of its rows; empty if
            that is unknown.
    """
    release = cache(known_release)
    libraries = facts.fact(_LIBRARIES, table) if table else None
    kept = libraries and facts.fact(_ROWS, table, _releases(libraries))
    if kept:
        # It stands beside code in a file that is trusted as Python trusts bytecode.
        rows: tuple[Change, ...] = pickle.loads(kept)
        return Due((), release, rows)
    rows = due_rows(all_rows(), release)
    if table:
        libraries = tuple(sorted({row.library for row in all_rows()}))
        facts.keep_fact(libraries, _LIBRARIES, table)
        facts.keep_fact(pickle.dumps(rows, 5), _ROWS, table, _releases(libraries))
    return Due((), release, rows)


def _releases(libraries: tuple[str, ...]) -> str:
    return " ".join(f"{library} {known_release(library)}" for library in libraries)

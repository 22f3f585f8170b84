"""The results of a sweep whose cells are names: which are chosen, their order, and the table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, ClassVar

from patchkit.errors import UsageError
from patchkit.text import short_list

from .shown import because, glyph, legend
from .verdicts import OUTCOMES, C, CellVerdict, Group, Judged, grouped

if TYPE_CHECKING:
    from rich.console import RenderableType

Progress = Callable[[str, int, int], None]
"""Called with the next cell, the number of those that are done, and that of all."""
_MOST_CELLS = 4


def choose(what: str, globs: Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    """Return the names that any of the globs names, in their order.

    Args:
        what: what has these names, in the singular.
        globs: names or globs.
        known: all names.

    Raises:
        UsageError: a glob names nothing.
    """
    known = tuple(known)
    chosen: set[str] = set()
    for glob in globs:
        found = [name for name in known if fnmatchcase(name, glob)]
        if not found:
            raise UsageError(f"no {what} {glob!r}; there are {', '.join(known)}")
        chosen.update(found)
    return tuple(name for name in known if name in chosen)


def in_turn(cells: Collection[C], progress: Progress | None) -> Iterator[C]:
    """Yield cells, and say before each how many are done."""
    for done, cell in enumerate(cells):
        if progress is not None:
            progress(named(cell), done, len(cells))
        yield cell


def named(cell: Any) -> str:
    """Return the name of a cell: all of its fields."""
    return " ".join(vars(cell).values())


@dataclass(frozen=True)
class GridResults(Judged[C]):
    """Results whose rows and columns are fields of the cells.

    Besides what is declared here, a class says:
        schema: names the form that the results have.
        cell: makes a cell of its fields.
        row_fields: those that name a row.
        column_fields: those that name a column, first `mode`.
    """

    schema: ClassVar[str]
    cell: ClassVar[Callable[..., Any]]
    row_fields: ClassVar[tuple[str, ...]]
    column_fields: ClassVar[tuple[str, ...]]

    def why(self, verdict: CellVerdict[C]) -> str:
        """Return why a cell has its verdict; empty if that is not known."""
        return verdict.note

    def columns(self) -> list[tuple[str, ...]]:
        """Return the columns that were tried, in order."""
        return self._tried(self.column_fields)

    def rows(self) -> Iterator[tuple[tuple[str, ...], list[CellVerdict[C] | None]]]:
        """Yield the names of each row, with a verdict for each column."""
        found = {verdict.cell: verdict for verdict in self.verdicts}
        for row in self._tried(self.row_fields):
            fields = [
                dict(zip((*self.row_fields, *self.column_fields), (*row, *column), strict=True))
                for column in self.columns()
            ]
            yield row, [found.get(self.cell(**content)) for content in fields]

    def _tried(self, fields: Sequence[str]) -> list[tuple[str, ...]]:
        cells = [verdict.cell for verdict in self.verdicts]
        return list(dict.fromkeys(tuple(getattr(cell, name) for name in fields) for cell in cells))

    def groups(self, outcome: str) -> list[Group[C]]:
        """Return the cells of an outcome by what happened, the most frequent first."""
        return grouped(self.with_outcome(outcome), self.why, lambda group: len(group.cells))

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": self.schema,
            "environment": self.environment,
            "cells": [
                {
                    **asdict(verdict.cell),  # type: ignore[call-overload]
                    "outcome": verdict.outcome.name,
                    "note": verdict.note or self.why(verdict),
                    "without": asdict(verdict.without),
                    "with_patchkit": asdict(verdict.with_patchkit),
                }
                for verdict in self.verdicts
            ],
        }


def as_table(results: GridResults[Any]) -> Iterator[RenderableType]:
    """Yield a table of verdicts for a terminal, its legend, and what to look at."""
    from rich.table import Table
    from rich.text import Text

    table = Table(*results.row_fields, box=None, pad_edge=False, header_style="bold")
    for mode, *names in results.columns():
        table.add_column("\n".join((*mode.split("/"), *names)), justify="center")
    for row, verdicts in results.rows():
        table.add_row(*row, *map(glyph, verdicts))
    yield table
    yield Text()
    yield from legend(results)
    for outcome in OUTCOMES.values():
        found = results.groups(outcome.name)
        if found and outcome.name != "same":
            yield Text(f"\n{outcome.meaning}:", style="bold")
            yield from map(Text, map(_line, found))


def _line(group: Group[Any]) -> str:
    places = short_list([named(cell) for cell in group.cells], _MOST_CELLS)
    return f"  {places}: {group.text}{because(group)}"

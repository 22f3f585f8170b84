"""A grid of patches by columns: what all forms of a shown matrix are made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from .states import NOT_MEASURED, State


@dataclass(frozen=True)
class Cell:
    """What is known of one patch in one column.

    Args:
        state: what the cell shows.
        scan: what the sources said; empty where they were not read.
        outcomes: of all runs there, each once.
        notes: what runs and scan noted.
        remarks: those of them that someone has to look into.
    """

    state: State = NOT_MEASURED
    scan: str = ""
    outcomes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One patch.

    Args:
        patch: its id.
        known: whether the catalogue has it still.
        cells: one for each column.
    """

    patch: str
    known: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Grid:
    """Patches by columns.

    Args:
        name: what the columns are: a library, or version sets.
        columns: a label for each, in order.
        rows: the patches.
        ticks: for each column a shorter label, or an empty one where a reader can do without;
            none at all where columns are no series, and each needs its own label.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    ticks: tuple[str, ...] = ()

    def split(self, most: int) -> Iterator[Grid]:
        """The grid in pieces side by side.

        Args:
            most: how many columns a piece may have.
        """
        for start in range(0, len(self.columns), most):
            part = slice(start, start + most)
            rows = tuple(replace(row, cells=row.cells[part]) for row in self.rows)
            # A piece that begins within a minor version says which.
            begun = [tick for tick in self.ticks[: start + 1] if tick][-1:]
            ticks = (*begun, *self.ticks[part][1:])
            yield replace(self, columns=self.columns[part], rows=rows, ticks=ticks)

    def where(self, chosen: Iterable[str]) -> str:
        """Names of columns in few words: `0.18.0, 0.26.0-1.3.0`.

        Args:
            chosen: the columns.
        """
        wanted = set(chosen)
        if not self.ticks:
            return "; ".join(one for one in self.columns if one in wanted)
        runs: list[list[str]] = []
        before = ""
        for column in self.columns:
            if column in wanted and before in wanted:
                runs[-1].append(column)
            elif column in wanted:
                runs.append([column])
            before = column
        return ", ".join(map(span, runs))


def span(columns: list[str] | tuple[str, ...]) -> str:
    """Neighbouring releases in few words."""
    return columns[0] if len(columns) == 1 else f"{columns[0]}-{columns[-1]}"

"""Define the grid of patches by columns, from which all forms of the matrix are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from .states import NOT_MEASURED, CellState


@dataclass(frozen=True)
class Cell:
    """The cell of one patch in one column.

    Args:
        state: the state that the cell shows.
        scan: the verdict of the scan; empty if there was none.
        outcomes: the outcomes of all runs, each once.
        notes: the notes of runs and scan.
        remarks: those notes that need attention.
        failures: those notes on runs that did not finish, and so say nothing about the bug.
    """

    state: CellState = NOT_MEASURED
    scan: str = ""
    outcomes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class PatchRow:
    """The row of one patch: a cell per column, and whether the catalogue still has the patch."""

    patch: str
    known: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Grid:
    """Patches by columns.

    Args:
        name: the kind of columns: a library, or version sets.
        columns: a label for each, in order.
        rows: the patches.
        ticks: a shorter label for each column, which may be empty; none at all if columns are no
            series, and each needs its own label.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[PatchRow, ...]
    ticks: tuple[str, ...] = ()

    def split(self, most: int) -> Iterator[Grid]:
        """Split the grid into parts side by side, each of at most so many columns."""
        for start in range(0, len(self.columns), most):
            part = slice(start, start + most)
            rows = tuple(replace(row, cells=row.cells[part]) for row in self.rows)
            # A part that begins within a minor version is labelled with it.
            first = [tick for tick in self.ticks[: start + 1] if tick][-1:]
            ticks = (*first, *self.ticks[part][1:])
            yield replace(self, columns=self.columns[part], rows=rows, ticks=ticks)

    def span_text(self, columns: Iterable[str]) -> str:
        """Abbreviate the names of columns: `0.18.0, 0.26.0-1.3.0`."""
        selected = set(columns)
        if not self.ticks:
            return "; ".join(column for column in self.columns if column in selected)
        runs: list[list[str]] = []
        before = ""
        for column in self.columns:
            if column in selected and before in selected:
                runs[-1].append(column)
            elif column in selected:
                runs.append([column])
            before = column
        return ", ".join(map(span, runs))


def span(columns: list[str] | tuple[str, ...]) -> str:
    """Abbreviate neighbouring releases."""
    return columns[0] if len(columns) == 1 else f"{columns[0]}-{columns[-1]}"

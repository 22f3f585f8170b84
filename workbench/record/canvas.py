"""Draw a matrix on one page, measured in inches from its upper left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from patchkit.cli.demo.drawing import FRAME, INK, PALE
from patchkit.matrix.show.grid import Grid
from patchkit.matrix.show.states import WORST_FIRST, CellState

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 10.0
MARGIN = 0.15
LINE = 0.17
"""Height of a line of text."""
CELL = 0.2
"""Height of a row, and width of a column if there is room."""
GAP = 0.14
_NARROWEST = 0.07
_ID_CHARACTER = 0.0675
_TICK_CHARACTER = 0.062
_TICK_APART = 0.1
_LEGEND_COLUMNS = 3


def label_width(grids: Iterable[Grid]) -> float:
    """Return the width of the longest id of all grids."""
    longest = max((len(row.patch) + 2 for grid in grids for row in grid.rows), default=0)
    return MARGIN + longest * _ID_CHARACTER


def parts_of(grid: Grid, left: float) -> Iterator[Grid]:
    """Split the grid into parts that fit the width of the page."""
    return grid.split(int((WIDTH - left - MARGIN) / (_NARROWEST if grid.ticks else _TICK_APART)))


def tick_height(grid: Grid) -> float:
    """Return the height of the labels of columns, which stand upright."""
    return max(map(len, grid.ticks or grid.columns)) * _TICK_CHARACTER + 0.06


class Canvas:
    """A page to draw on.

    Args:
        figure: a figure of matplotlib.
        height: the height of the page.
    """

    def __init__(self, figure: Figure, height: float) -> None:
        self._axes: Any = figure.add_axes((0, 0, 1, 1))
        self._axes.set(xlim=(0, WIDTH), ylim=(height, 0))
        self._axes.axis("off")

    @staticmethod
    def legend_height() -> float:
        return LINE * -(-len(WORST_FIRST) // _LEGEND_COLUMNS) + GAP / 2

    def text(self, x: float, y: float, text: str, **options: Any) -> None:
        options = {"color": INK, "va": "center_baseline", "size": 8, **options}
        self._axes.text(x, y, text, parse_math=False, **options)

    def note(self, y: float, text: str) -> None:
        self.text(MARGIN, y, text, size=7, color=PALE)

    def legend(self, top: float) -> None:
        wide = (WIDTH - 2 * MARGIN) / _LEGEND_COLUMNS
        deep = -(-len(WORST_FIRST) // _LEGEND_COLUMNS)
        for number, state in enumerate(WORST_FIRST):
            x, y = MARGIN + number // deep * wide, top + number % deep * LINE
            self._cells(f"legend:{state.name}", state, [(x, CELL)], y + 0.02, LINE - 0.04)
            self._frame(x, y + 0.02, CELL, LINE - 0.04)
            self._glyph(state, x + CELL / 2, y + LINE / 2, CELL)
            self.text(x + CELL + 0.08, y + LINE / 2, state.meaning)

    def grid(self, grid: Grid, left: float, top: float) -> None:
        """Draw a grid below `top`, its columns beginning at `left`."""
        number = len(grid.columns)
        wide = min(CELL, (WIDTH - left - MARGIN) / number)
        top += tick_height(grid)
        self.text(left - 0.08, top - LINE / 2, grid.name, size=9, weight="bold", ha="right")
        self._ticks(grid, left, top, wide)
        for down, row in enumerate(grid.rows):
            y = top + down * CELL
            runs: dict[CellState, list[tuple[float, float]]] = {}
            for state, cells in groupby(enumerate(row.cells), key=lambda pair: pair[1].state):
                numbers = [at for at, _ in cells]
                runs.setdefault(state, []).append((left + numbers[0] * wide, len(numbers) * wide))
            for state, spans in runs.items():
                self._cells(f"{grid.name}:{row.patch}:{state.name}", state, spans, y, CELL)
            for at, cell in enumerate(row.cells):
                self._glyph(cell.state, left + (at + 0.5) * wide, y + CELL / 2, wide)
            label = row.patch if row.known else f"{row.patch} *"
            self.text(left - 0.08, y + CELL / 2, label, family="monospace", ha="right")
        self._rules(grid, left, top, wide)
        self._frame(left, top, number * wide, len(grid.rows) * CELL)

    def _ticks(self, grid: Grid, left: float, bottom: float, wide: float) -> None:
        last = -_TICK_APART
        for at, tick in enumerate(grid.ticks or grid.columns):
            if tick and at * wide - last >= _TICK_APART * 0.99:
                last = at * wide
                x = left + (at + 0.5) * wide
                style = {"rotation": 90, "ha": "center", "va": "bottom", "size": 7}
                self.text(x, bottom - 0.04, tick, color=PALE, **style)

    def _rules(self, grid: Grid, left: float, top: float, wide: float) -> None:
        """Draw white lines between cells, broader ones before a labelled column."""
        bottom, right = top + len(grid.rows) * CELL, left + len(grid.columns) * wide
        begins = [bool(grid.ticks and grid.ticks[at]) for at in range(1, len(grid.columns))]
        for broad, line in ((False, 0.5), (True, 1.6)):
            xs = [left + at * wide for at, is_broad in enumerate(begins, 1) if is_broad is broad]
            self._axes.vlines(xs, top, bottom, colors="white", linewidths=line)
        ys = [top + down * CELL for down in range(1, len(grid.rows))]
        self._axes.hlines(ys, left, right, colors="white", linewidths=1.2)

    def _cells(
        self, name: str, state: CellState, spans: list[tuple[float, float]], y: float, high: float
    ) -> None:
        bars = self._axes.broken_barh(spans, (y, high), facecolors=state.colour, linewidth=0)
        bars.set_gid(name)

    def _glyph(self, state: CellState, x: float, y: float, wide: float) -> None:
        if state.ink:
            size = min(7.5, wide * 72)
            style = {"ha": "center", "size": size, "weight": "bold", "color": state.ink}
            self.text(x, y, state.glyph, **style)

    def _frame(self, x: float, y: float, wide: float, high: float) -> None:
        xs, ys = [x, x + wide, x + wide, x, x], [y, y, y + high, y + high, y]
        self._axes.plot(xs, ys, color=FRAME, linewidth=0.6, solid_joinstyle="miter")

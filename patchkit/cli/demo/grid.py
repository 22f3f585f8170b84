"""Draw the dtypes of a model by kinds of modules, of two trainings side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .drawing import FRAME, INK, PALE
from .outcome import TrainingOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.24
_HEAD = 0.3
# Dtype to the colour of its cell and of the words in it. The words tell them apart as well.
_COLOURS = {
    "float32": ("#0072b2", "#ffffff"),
    "float16": ("#9bd0f0", INK),
    "bfloat16": ("#e69f00", INK),
}
_STORED = ("#e4e7ea", INK)
_COLUMNS = ("without patchkit", "with patchkit")


Cell = dict[str, int] | None
"""Numbers of tensors by dtype; None where nothing is known."""
Rows = dict[str, tuple[Cell, Cell]]
"""The label of a kind of modules to its cells, without patchkit and with it."""


def rows_of(without: TrainingOutcome, fixed: TrainingOutcome) -> Rows:
    """Return the rows of two outcomes; one that died before it began has no kinds."""
    first, second = (
        {(kind["kind"], kind["trained"]): kind["dtypes"] for kind in outcome.get("dtypes", ())}
        for outcome in (without, fixed)
    )
    return {
        f"{name} (trained)" if trained else name: (
            first.get((name, trained), {}) if first else None,
            second.get((name, trained), {}) if second else None,
        )
        for name, trained in sorted(dict.fromkeys([*second, *first]), key=lambda kind: not kind[1])
    }


def height_of(rows: Rows) -> float:
    """Return the height of the grid in inches."""
    return _HEAD + _ROW * max(len(rows), 1)


def draw_grid(axes: Axes, rows: Rows) -> None:
    """Draw the grid, with labels to the left of the axes."""
    axes.set(xlim=(0, 2), ylim=(height_of(rows), 0))
    axes.axis("off")

    def text(x: float, y: float, words: str, **style: Any) -> None:
        style = {"size": 8.5, "color": INK, "ha": "center", "va": "center_baseline", **style}
        axes.text(x, y, words, parse_math=False, **style)

    for column, title in enumerate(_COLUMNS):
        text(column + 0.5, _HEAD / 2, title, weight="bold", size=9)
    text(-0.03, _HEAD / 2, "dtypes as training begins", ha="right", size=9, weight="bold")
    if not rows:
        text(1, _HEAD + _ROW / 2, "not known", color=PALE)
    for down, (label, cells) in enumerate(rows.items()):
        y = _HEAD + down * _ROW
        weight = "bold" if None not in cells and cells[0] != cells[1] else "normal"
        text(-0.03, y + _ROW / 2, label, ha="right", weight=weight)
        for column, cell in enumerate(cells):
            for left, wide, words, fill, ink in _parts(cell):
                axes.broken_barh(
                    [(column + 0.01 + left * 0.98, wide * 0.98)],
                    (y + 0.015, _ROW - 0.03),
                    facecolors=fill,
                    edgecolors=FRAME,
                    linewidths=0.6,
                    gid=f"cell:{label}:{_COLUMNS[column]}:{words}",
                )
                middle = column + 0.01 + (left + wide / 2) * 0.98
                text(middle, y + _ROW / 2, words, color=ink, weight=weight)


def _parts(cell: Cell) -> Iterator[tuple[float, float, str, str, str]]:
    """Yield left edge, width, text and colours of each part of a cell that is 1 wide."""
    if not cell:
        yield 0, 1, "none" if cell is not None else "not known", "#ffffff", PALE
        return
    wide = 1 / len(cell)
    for number, (name, count) in enumerate(cell.items()):
        words = name if len(cell) == 1 else f"{count} {name}"
        yield number * wide, wide, words, *_COLOURS.get(name, _STORED)

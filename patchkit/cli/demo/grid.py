"""Draw the dtypes of a model by kinds of modules, of two trainings side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True)
class KindRow:
    """One kind of module: numbers of tensors by dtype, without patchkit and with it."""

    label: str
    cells: tuple[dict[str, int] | None, dict[str, int] | None]

    @property
    def differs(self) -> bool:
        return None not in self.cells and self.cells[0] != self.cells[1]


@dataclass(frozen=True)
class KindGrid:
    """Kinds of modules by the two trainings."""

    rows: tuple[KindRow, ...]

    @classmethod
    def of(cls, without: TrainingOutcome, fixed: TrainingOutcome) -> KindGrid:
        """Make the grid of two outcomes; one that died before it began has no kinds."""
        both = [
            {
                (entry["kind"], entry["trained"]): entry["dtypes"]
                for entry in outcome.get("dtypes", ())
            }
            for outcome in (without, fixed)
        ]
        kinds = sorted(dict.fromkeys([*both[1], *both[0]]), key=lambda kind: not kind[1])
        first, second = (
            [dtypes.get(kind, {}) if dtypes else None for kind in kinds] for dtypes in both
        )
        return cls(
            tuple(
                KindRow(f"{name} (trained)" if trained else name, cells)
                for (name, trained), cells in zip(
                    kinds, zip(first, second, strict=True), strict=True
                )
            )
        )

    @property
    def height(self) -> float:
        """Height in inches."""
        return _HEAD + _ROW * max(len(self.rows), 1)

    def draw(self, axes: Axes) -> None:
        """Draw the grid, with labels to the left of the axes."""
        axes.set(xlim=(0, 2), ylim=(self.height, 0))
        axes.axis("off")

        def text(x: float, y: float, words: str, **style: Any) -> None:
            style = {"size": 8.5, "color": INK, "ha": "center", "va": "center_baseline", **style}
            axes.text(x, y, words, parse_math=False, **style)

        for column, title in enumerate(_COLUMNS):
            text(column + 0.5, _HEAD / 2, title, weight="bold", size=9)
        text(-0.03, _HEAD / 2, "dtypes as training begins", ha="right", size=9, weight="bold")
        if not self.rows:
            text(1, _HEAD + _ROW / 2, "not known", color=PALE)
        for down, row in enumerate(self.rows):
            y = _HEAD + down * _ROW
            weight = "bold" if row.differs else "normal"
            text(-0.03, y + _ROW / 2, row.label, ha="right", weight=weight)
            for column, cell in enumerate(row.cells):
                for left, wide, words, fill, ink in _parts(cell):
                    bars = [(column + 0.01 + left * 0.98, wide * 0.98)]
                    style: dict[str, Any] = {
                        "facecolors": fill,
                        "edgecolors": FRAME,
                        "linewidths": 0.6,
                    }
                    style["gid"] = f"cell:{row.label}:{_COLUMNS[column]}:{words}"
                    axes.broken_barh(bars, (y + 0.015, _ROW - 0.03), **style)
                    middle = column + 0.01 + (left + wide / 2) * 0.98
                    text(middle, y + _ROW / 2, words, color=ink, weight=weight)


def _parts(cell: dict[str, int] | None) -> Iterator[tuple[float, float, str, str, str]]:
    """Yield left edge, width, text and colours of each part of a cell that is 1 wide."""
    if not cell:
        yield 0, 1, "none" if cell is not None else "not known", "#ffffff", PALE
        return
    wide = 1 / len(cell)
    for number, (name, count) in enumerate(cell.items()):
        words = name if len(cell) == 1 else f"{count} {name}"
        yield number * wide, wide, words, *_COLOURS.get(name, _STORED)

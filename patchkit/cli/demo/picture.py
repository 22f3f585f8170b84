"""Draw the outcomes of the demo: losses above, dtypes below."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .drawing import INK, PALE, PictureError, as_bytes, matplotlib_style
from .grid import draw_grid, height_of, rows_of
from .outcome import TrainingOutcome, aside, subject

WIDTH = 8.4
"""Width of the page in inches: about 800 pixels of a screen."""
_MARGIN = 0.12
_LEFT = 2.05
_TITLE = 0.68
_CURVES = 2.35
_BETWEEN = 0.6
_NOTE = 0.34


def draw_to(
    path: Path,
    without: TrainingOutcome,
    fixed: TrainingOutcome,
    setup: Mapping[str, str],
    steps: int,
) -> None:
    """Write the picture, in the format that the file's ending names.

    Raises:
        PictureError: matplotlib is absent, or the file cannot be written.
    """
    picture = draw(without, fixed, setup, steps, path.suffix.lower().removeprefix("."))
    try:
        path.write_bytes(picture)
    except OSError as error:
        raise PictureError(f"cannot write {path}: {error.strerror}") from error


def draw(
    without: TrainingOutcome,
    fixed: TrainingOutcome,
    setup: Mapping[str, str],
    steps: int,
    form: str,
) -> bytes:
    """Draw the picture; the same outcomes and matplotlib give the same bytes.

    Raises:
        PictureError: matplotlib is absent.
    """
    with matplotlib_style():
        from matplotlib.figure import Figure

        from .curves import draw_curves

        rows = rows_of(without, fixed)
        grid_height = height_of(rows)
        height = _TITLE + _CURVES + _BETWEEN + grid_height + _NOTE
        figure = Figure(figsize=(WIDTH, height), facecolor="white")

        def place(
            left: float, top: float, wide: float, high: float
        ) -> tuple[float, float, float, float]:
            return left / WIDTH, 1 - (top + high) / height, wide / WIDTH, high / height

        def text(top: float, words: str, **style: Any) -> None:
            figure.text(
                _MARGIN / WIDTH, 1 - top / height, words, va="top", parse_math=False, **style
            )

        text(_MARGIN, _title(without, fixed, setup), size=10.5, color=INK)
        wide = WIDTH - 0.62 - _MARGIN
        curves = figure.add_axes(place(0.62, _TITLE, wide, _CURVES))
        draw_curves(curves, without, fixed, steps)
        top = _TITLE + _CURVES + _BETWEEN
        draw_grid(figure.add_axes(place(_LEFT, top, WIDTH - _LEFT - _MARGIN, grid_height)), rows)
        text(height - _NOTE + 0.1, aside(fixed, setup["precision"]), size=7.5, color=PALE)
        return as_bytes(
            figure, form, title="Training with and without patchkit", maker="patchkit demo"
        )


def _title(without: TrainingOutcome, fixed: TrainingOutcome, setup: Mapping[str, str]) -> str:
    release = fixed.get("trl") or without.get("trl")
    return f"{subject(setup)}, TRL {release}" if release else subject(setup)

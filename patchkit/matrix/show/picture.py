"""A shown matrix as a picture, by matplotlib: opaque, so that it reads on any page."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from ..records import MatrixError
from .canvas import (
    CELL,
    GAP,
    LINE,
    MARGIN,
    WIDTH,
    Canvas,
    label_width,
    parts_of,
    tick_height,
)
from .view import View

_MOST_NOTES = 12
_NOTE_CHARACTERS = 165
_SETTINGS = {
    "svg.hashsalt": "patchkit",
    "svg.fonttype": "none",
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.monospace": ["DejaVu Sans Mono", "Menlo", "Consolas"],
}
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "patchkit matrix show", "Title": "What was measured"},
    "png": {"Software": "patchkit matrix show"},
}


def draw(view: View, form: str) -> bytes:
    """The same view gives the same bytes, with the same matplotlib.

    Args:
        view: what to show.
        form: `svg` or `png`.

    Raises:
        MatrixError: matplotlib is absent.
    """
    try:
        from matplotlib import style
    except ImportError as error:
        raise MatrixError(
            f"a picture needs matplotlib ({error}): pip install 'patchkit[plot]', or write "
            "Markdown with --output matrix.md"
        ) from error
    # Not as the user's own settings of matplotlib say: the matrix does not know them.
    with style.context(["default", _SETTINGS]):
        return _drawn(view, form)


def _drawn(view: View, form: str) -> bytes:
    from matplotlib.figure import Figure

    left = label_width(view.grids)
    parts = [part for grid in view.grids for part in parts_of(grid, left)]
    heights = [tick_height(part) + CELL * len(part.rows) + GAP for part in parts]
    notes = list(_notes(view))
    head = MARGIN + LINE + GAP + Canvas.legend_height() + GAP
    height = head + sum(heights) + LINE * len(notes) + MARGIN
    figure = Figure(figsize=(WIDTH, height), facecolor="white")
    canvas = Canvas(figure, height)
    canvas.text(MARGIN, MARGIN + LINE / 2, "patchkit: what was measured", size=11, weight="bold")
    canvas.legend(MARGIN + LINE + GAP)
    top = head
    for part, own in zip(parts, heights, strict=True):
        canvas.grid(part, left, top)
        top += own
    for note in notes:
        canvas.note(top + LINE / 2, note)
        top += LINE
    file = io.BytesIO()
    figure.savefig(file, format=form, dpi=160, metadata=_METADATA[form])
    return file.getvalue()


def _notes(view: View) -> Iterator[str]:
    yield f"Measured: {view.source}."
    if any(not row.known for grid in view.grids for row in grid.rows):
        yield "* no longer in the catalogue"
    lines = [*_section("Not measured:", view.gaps), *_section("Noted of releases:", view.asides)]
    yield from lines[:_MOST_NOTES]
    if len(lines) > _MOST_NOTES:
        yield f"and {len(lines) - _MOST_NOTES} lines more, which `patchkit matrix show` prints"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    parts = [
        part
        for line in lines
        for part in textwrap.wrap(line, _NOTE_CHARACTERS, subsequent_indent="    ")
    ]
    return [title, *parts] if parts else []

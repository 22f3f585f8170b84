"""Draw a view with matplotlib: opaque, so that it reads on any page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from patchkit.cli.demo.drawing import PictureError, as_bytes, matplotlib_style
from patchkit.matrix.records import MatrixError
from patchkit.matrix.show.view import View

from .canvas import CELL, GAP, LINE, MARGIN, WIDTH, Canvas, label_width, parts_of, tick_height

_MOST_NOTES = 12
_NOTE_CHARACTERS = 165


def draw(view: View, form: str) -> bytes:
    """Draw a view; the same view and matplotlib give the same bytes.

    Args:
        view: the view.
        form: `svg` or `png`.

    Raises:
        MatrixError: matplotlib is absent.
    """
    try:
        with matplotlib_style():
            return _draw(view, form)
    except PictureError as error:
        raise MatrixError(f"{error}, or write Markdown with --output matrix.md") from error


def _draw(view: View, form: str) -> bytes:
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
    return as_bytes(figure, form, title="What was measured", maker="patchkit matrix show")


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

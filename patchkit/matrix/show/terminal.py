"""Render a view for a terminal, or for a file of plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .grid import Grid
from .states import WORST_FIRST, CellState
from .view import View

if TYPE_CHECKING:
    from rich.text import Text

_FEWEST = 8
"""Fewest columns beside a label, however narrow the terminal."""
_GONE = "*"


def as_text(view: View, width: int = 80, *, ascii_only: bool = False) -> Text:
    """Render glyphs in colours, for a terminal of a width; they are readable without colours."""
    from rich.text import Text

    has_gone = any(not row.known for grid in view.grids for row in grid.rows)
    blocks = [
        *(_grid(grid, width, ascii_only=ascii_only) for grid in view.grids),
        *([_legend(width, gone=has_gone, ascii_only=ascii_only)] if view.grids else []),
        _section("To be looked into", view.remarks, width),
        _section("Not measured", view.gaps, width),
        _section("Noted of releases", view.asides, width),
        map(Text, textwrap.wrap(f"Measured: {view.source}.", width)),
    ]
    return Text("\n\n").join(joined for lines in blocks if (joined := Text("\n").join(lines)).plain)


def _grid(grid: Grid, width: int, *, ascii_only: bool) -> Iterator[Text]:
    from rich.text import Text

    labels = _row_labels(grid, width)
    label_width = max(map(len, labels.values()))
    room = width - label_width - 1
    step = 2 if 2 * len(grid.columns) - 1 <= room else 1
    yield Text(_title(grid), style="bold")
    number = 1
    for part in grid.split(max(_FEWEST, (room + step - 1) // step)):
        if number > 1:
            yield Text()
        for head in _heads(part, number, step, room):
            yield Text((" " * (label_width + 1) + head).rstrip(), style="dim")
        for row in part.rows:
            glyphs = (_glyph(cell.state, ascii_only=ascii_only) for cell in row.cells)
            line = Text(f"{labels[row.patch]:{label_width}} ")
            yield line + Text(" " * (step - 1)).join(glyphs)
        number += len(part.columns)
    if not grid.ticks:
        yield Text()
        for number, column in enumerate(grid.columns, 1):
            yield Text(f"{number:3}  {column}")


def _title(grid: Grid) -> str:
    number = len(grid.columns)
    if not grid.ticks:
        return f"{number} {grid.name}" if number > 1 else grid.name
    first, last = grid.columns[0], grid.columns[-1]
    return (
        f"{grid.name}, {number} releases: {first} to {last}"
        if number > 1
        else (f"{grid.name}, one release: {first}")
    )


def _row_labels(grid: Grid, width: int) -> dict[str, str]:
    """Return whole ids, or without the library if they make a line too long."""
    whole = {row.patch: row.patch + ("" if row.known else f" {_GONE}") for row in grid.rows}
    if max(map(len, whole.values())) + 1 + len(grid.columns) <= width:
        return whole
    return {patch: label.removeprefix(grid.name) for patch, label in whole.items()}


def _glyph(state: CellState, *, ascii_only: bool) -> Text:
    from rich.text import Text

    return Text(state.ascii if ascii_only else state.glyph, style=state.style)


def _heads(grid: Grid, number: int, step: int, room: int) -> Iterator[str]:
    if grid.ticks:
        yield _scale(grid.ticks, step, room)
        return
    numbers = range(number, number + len(grid.columns))
    for digit in range(max(len(str(number)) for number in numbers)):
        size = max(len(str(number)) for number in numbers)
        yield (" " * (step - 1)).join(f"{number:{size}}"[digit] for number in numbers)


def _scale(ticks: Sequence[str], step: int, room: int) -> str:
    """Place as many ticks as fit, each beginning above its column.

    Major versions come first, then the others from the left.
    """
    line = " " * room
    major_of = [tick.partition(".")[0] for tick in ticks]
    majors = [at for at in range(1, len(ticks)) if major_of[at] not in ("", *major_of[:at])]
    for at in [0, *majors, *range(1, len(ticks))]:
        start, end = at * step, at * step + len(ticks[at])
        free = line[max(0, start - 1) : end + 1].isspace()
        if ticks[at] and free and end <= room:
            line = line[:start] + ticks[at] + line[end:]
    return line


def _legend(width: int, *, gone: bool, ascii_only: bool) -> Iterator[Text]:
    from rich.text import Text

    entries = [
        _glyph(state, ascii_only=ascii_only) + Text(f" {state.meaning}") for state in WORST_FIRST
    ]
    if gone:
        entries.append(Text(f"{_GONE} no longer in the catalogue"))
    column = max(len(entry) for entry in entries) + 2
    beside = max(1, width // column)
    for start in range(0, len(entries), beside):
        line = Text()
        for entry in entries[start : start + beside]:
            entry.pad_right(column - len(entry))
            line += entry
        line.rstrip()
        yield line


def _section(title: str, lines: Iterable[str], width: int) -> Iterator[Text]:
    from rich.text import Text

    lines = list(lines)
    if lines:
        yield Text(title, style="bold")
    for line in lines:
        # An id or a version is one word.
        wrapped = textwrap.wrap(
            line, width, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False
        )
        yield from map(Text, wrapped)

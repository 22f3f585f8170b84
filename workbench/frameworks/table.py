"""Show the results in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from patchkit.text import short_list

from ..sweep.shown import because, glyph, legend
from ..sweep.verdicts import OUTCOMES, Group
from .records import FrameworkCell
from .results import FrameworkResults

if TYPE_CHECKING:
    from rich.console import RenderableType

_MOST_CELLS = 4


def as_table(results: FrameworkResults) -> Iterator[RenderableType]:
    """Yield a table of frameworks and tasks by modes, its legend, and what to look at."""
    from rich.table import Table
    from rich.text import Text

    names = ("framework", "task", "method")
    table = Table(*names, box=None, pad_edge=False, header_style="bold")
    for mode, way in results.columns():
        table.add_column("\n".join((*mode.split("/"), way)), justify="center")
    for name, verdicts in results.rows():
        table.add_row(*name, *map(glyph, verdicts))
    yield table
    yield Text()
    yield from legend(results)
    for outcome in OUTCOMES.values():
        found = results.groups(outcome.name)
        if found and outcome.name != "same":
            yield Text(f"\n{outcome.meaning}:", style="bold")
            yield from map(Text, map(_line, found))


def _line(group: Group[FrameworkCell]) -> str:
    places = [" ".join(vars(cell).values()) for cell in group.cells]
    return f"  {short_list(places, _MOST_CELLS)}: {group.text}{because(group)}"

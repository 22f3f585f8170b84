"""Show the results of a sweep in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from patchkit.text import short_list

from ..sweep.shown import because, glyph, legend
from ..sweep.verdicts import OUTCOMES, Group
from .records import FamilyCell
from .results import FamilyResults, groups, places

if TYPE_CHECKING:
    from rich.console import RenderableType

_MOST_NAMES = 8


def as_table(results: FamilyResults) -> Iterator[RenderableType]:
    """Yield a table of model types by modes, its legend, and what is to be looked at."""
    from rich.table import Table
    from rich.text import Text

    for content in results.tables():
        table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
        table.add_column(content.by, no_wrap=True, overflow="fold")
        for head in content.heads:
            table.add_column("\n".join(head), justify="center")
        for name, verdicts in content.rows:
            table.add_row(name, *map(glyph, verdicts))
        yield table
        yield Text()
    yield from legend(results)
    for name in ("broken", "differs", "limited", "untried", "fails", "fixed"):
        found = groups(results.with_outcome(name))
        if found:
            yield Text(f"\n{OUTCOMES[name].meaning}:", style="bold")
            yield from map(Text, map(_line, found))
    if results.unbuilt:
        yield Text("\nno tiny model could be built:", style="bold")
        for build in results.unbuilt:
            yield Text(f"  {build.subject.type}: {build.error}")


def _line(group: Group[FamilyCell]) -> str:
    found = places(group)
    names = short_list((subject.type for subject in found), _MOST_NAMES)
    if len(found) == 1:
        names += f" ({short_list((f'{cell.mode} {cell.method}' for cell in group.cells), 3)})"
    return f"  {names}: {group.text}{because(group)}"

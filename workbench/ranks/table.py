"""Show the results in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from patchkit.text import short_list

from ..families.verdicts import OUTCOMES
from .known import reason
from .results import Results, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

_MOST_CELLS = 4


def as_table(results: Results) -> Iterator[RenderableType]:
    """Yield a table of strategies and trainers by modes, its legend, and what to look at."""
    from rich.table import Table
    from rich.text import Text

    table = Table("strategy", "trainer", box=None, pad_edge=False, header_style="bold")
    for mode, method in results.columns():
        table.add_column("\n".join((*mode.split("/"), method)), justify="center")
    for strategy, trainer, verdicts in results.rows():
        table.add_row(strategy, trainer, *map(_glyph, verdicts))
    yield table
    yield Text()
    for outcome, number in results.counts():
        yield Text.assemble((outcome.glyph, outcome.style), f"  {number} {outcome.meaning}")
    for outcome in OUTCOMES.values():
        found = results.stories(outcome)
        if found and outcome.name != "same":
            yield Text(f"\n{outcome.meaning}:", style="bold")
            yield from (Text(_line(*story)) for story in found.items())


def places(verdicts: Sequence[Verdict]) -> list[str]:
    """Return where something happened: strategy, trainer, mode and method of each cell."""
    return [" ".join(vars(verdict.cell).values()) for verdict in verdicts]


def _glyph(verdict: Verdict | None) -> Text:
    from rich.text import Text

    if verdict is None:
        return Text(".", style="dim")
    return Text(verdict.outcome.glyph, style=verdict.outcome.style)


def _line(text: str, verdicts: Sequence[Verdict]) -> str:
    known = reason(verdicts[0].with_patchkit)
    because = f" ({known})" if known else ""
    return f"  {short_list(places(verdicts), _MOST_CELLS)}: {text}{because}"

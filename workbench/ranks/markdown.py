"""Write the results as a section of the documentation."""

from __future__ import annotations

from collections.abc import Iterator

from patchkit.text import short_list

from ..sweep.shown import HEADINGS, counted, head, measured_on, row, section
from ..sweep.verdicts import Group
from .records import RankCell
from .results import RankResults
from .strategies import STRATEGIES

_HEADINGS = {**HEADINGS, "limited": "What needs more time"}
_MOST_PLACES = 6


def as_markdown(results: RankResults) -> str:
    """Return a table, its legend, and what is to be said."""
    return "\n".join(_lines(results)).rstrip("\n")


def _lines(results: RankResults) -> Iterator[str]:
    yield from measured_on(results)
    yield from counted(results)
    columns = ((*mode.split("/"), method) for mode, method in results.columns())
    yield from head(("strategy", "trainer"), columns)
    for (strategy, trainer), verdicts in results.rows():
        yield row((STRATEGIES[strategy].meaning, trainer), verdicts)
    yield ""
    for name, heading in _HEADINGS.items():
        yield from section(f"### {heading}", results.groups(name), _places)


def _places(group: Group[RankCell]) -> str:
    """Return strategies with modes and methods, and the trainers of each."""
    trainers: dict[str, list[str]] = {}
    for cell in group.cells:
        trainers.setdefault(f"{cell.strategy} {cell.mode} {cell.method}", []).append(cell.trainer)
    places = (f"{place} ({', '.join(names)})" for place, names in trainers.items())
    return short_list(list(places), _MOST_PLACES)

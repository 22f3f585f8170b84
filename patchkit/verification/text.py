"""Verdicts as text for a terminal or a file, and as HTML for a notebook."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..matrix.outcome_table import OUTCOME_TABLE
from ..patch import REQUIREMENTS
from ..text import short_list
from .verdicts import NO_ERROR, Verdict

if TYPE_CHECKING:
    from rich.table import Table


_NAMED = 4
"""How many of the patches that are not due are named; JSON has all."""

_WORST_FIRST = {outcome.name: outcome.style for outcome in OUTCOME_TABLE if outcome.style}
_IN_WORDS = {outcome.name: outcome.words for outcome in OUTCOME_TABLE if outcome.words}
_LACKING = {requirement.outcome: requirement.what for requirement in REQUIREMENTS.values()}


def as_table(verdicts: Sequence[Verdict]) -> Table:
    """A rich table: trouble first, and what is not due below."""
    from rich.table import Table
    from rich.text import Text

    shown = [one for one in verdicts if one.outcome in _WORST_FIRST]
    rest = [one.id for one in verdicts if one.outcome not in _WORST_FIRST]
    table = Table(
        title=f"patchkit: {tally(verdicts)}",
        title_justify="left",
        caption=f"not due here: {short_list(rest, shown=_NAMED)}" if rest else None,
        caption_justify="left",
        box=None,
        show_header=False,
        padding=(0, 2, 0, 0),
    )
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    order = list(_WORST_FIRST)
    for one in sorted(shown, key=lambda it: order.index(it.outcome)):
        what = Text(one.id, style="bold")
        what.append(f"\n{_in_words(one)}", style="not bold")
        for side, text in _sides(one):
            what.append(f"\n{side}: {text}", style="not bold dim")
        table.add_row(Text(one.outcome, style=_WORST_FIRST[one.outcome]), what)
    return table


def _in_words(one: Verdict) -> str:
    if one.outcome in _IN_WORDS:
        return _IN_WORDS[one.outcome]
    return (
        f"mended as far as it shows without {_LACKING[one.outcome]}"
        if one.with_patch
        else "not run"
    )


def _sides(one: Verdict) -> list[tuple[str, str]]:
    sides = [("without it", one.without), ("with it", one.with_patch)]
    return [(side, text) for side, text in sides if text and text != NO_ERROR]


def tally(verdicts: Sequence[Verdict]) -> str:
    """The number of patches by outcome, in one line."""
    counted = Counter(one.outcome for one in verdicts)
    parts = [f"{counted[outcome]} {outcome}" for outcome in _WORST_FIRST if counted[outcome]]
    return ", ".join(parts) or "nothing is due here"


def as_html(verdicts: Sequence[Verdict]) -> str:
    """A table for a notebook."""
    rows = "".join(
        f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in _cells(one))}</tr>"
        for one in verdicts
    )
    head = "<tr><th>outcome</th><th>patch</th><th>without it</th><th>with it</th></tr>"
    return f"<table>{head}{rows}</table>"


def _cells(one: Verdict) -> tuple[str, ...]:
    return one.outcome, one.id, one.without, one.with_patch

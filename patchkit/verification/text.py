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


_IDS_SHOWN = 4
"""Ids named of patches that are not due; JSON has all."""

_WORST_FIRST = {outcome.name: outcome.style for outcome in OUTCOME_TABLE if outcome.style}
_IN_WORDS = {outcome.name: outcome.words for outcome in OUTCOME_TABLE if outcome.words}
_LACKING = {requirement.outcome: requirement.what for requirement in REQUIREMENTS.values()}


def as_table(verdicts: Sequence[Verdict]) -> Table:
    """Return a rich table: trouble first, and a caption with the patches that are not due.

    What kept several patches from being run, such as a version that cannot be read, is one row.
    """
    from rich.table import Table
    from rich.text import Text

    shown = [verdict for verdict in verdicts if verdict.outcome in _WORST_FIRST]
    rest = [verdict.id for verdict in verdicts if verdict.outcome not in _WORST_FIRST]
    table = Table(
        title=f"patchkit: {tally(verdicts)}",
        title_justify="left",
        caption=f"not due here: {short_list(rest, shown=_IDS_SHOWN)}" if rest else None,
        caption_justify="left",
        box=None,
        show_header=False,
        padding=(0, 2, 0, 0),
    )
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    order = list(_WORST_FIRST)
    obstacles: dict[str, list[str]] = {}
    for verdict in shown:
        if verdict.was_not_run:
            obstacles.setdefault(verdict.without, []).append(verdict.id)
    for obstacle, ids in obstacles.items():
        cell = Text(", ".join(ids), style="bold")
        cell.append(f"\nnot run: {obstacle}", style="not bold")
        table.add_row(Text("error", style=_WORST_FIRST["error"]), cell)
    run = (verdict for verdict in shown if not verdict.was_not_run)
    for verdict in sorted(run, key=lambda verdict: order.index(verdict.outcome)):
        cell = Text(verdict.id, style="bold")
        cell.append(f"\n{_in_words(verdict)}", style="not bold")
        for side, text in _sides(verdict):
            cell.append(f"\n{side}: {text}", style="not bold dim")
        table.add_row(Text(verdict.outcome, style=_WORST_FIRST[verdict.outcome]), cell)
    return table


def _in_words(verdict: Verdict) -> str:
    if verdict.outcome in _IN_WORDS:
        return _IN_WORDS[verdict.outcome]
    return (
        f"fixed as far as it shows without {_LACKING[verdict.outcome]}"
        if verdict.with_patch
        else "not run"
    )


def _sides(verdict: Verdict) -> list[tuple[str, str]]:
    sides = [("without it", verdict.without), ("with it", verdict.with_patch)]
    return [(side, text) for side, text in sides if text and text != NO_ERROR]


def tally(verdicts: Sequence[Verdict]) -> str:
    """Return the number of patches by outcome, in one line."""
    counts = Counter(verdict.outcome for verdict in verdicts)
    parts = [f"{counts[outcome]} {outcome}" for outcome in _WORST_FIRST if counts[outcome]]
    return ", ".join(parts) or "nothing is due here"


def as_html(verdicts: Sequence[Verdict]) -> str:
    """Return a table for a notebook."""
    cells = (
        (verdict.outcome, verdict.id, verdict.without, verdict.with_patch) for verdict in verdicts
    )
    rows = "".join(
        f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in cells
    )
    head = "<tr><th>outcome</th><th>patch</th><th>without it</th><th>with it</th></tr>"
    return f"<table>{head}{rows}</table>"

"""What there is to say of one patch, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..patch import Status

if TYPE_CHECKING:
    from rich.table import Table

    from ..catalogue.explanation import Explanation
    from .record import PatchRecord

WIDEST = 100
"""Columns; longer lines are hard to read."""


def as_table(one: Explanation, here: PatchRecord) -> Table:
    """A labelled paragraph for each thing that is known.

    Args:
        one: what the catalogue says.
        here: what is so of it on the installed versions.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text.assemble((one.id, "bold"), f"\n{one.title}\n"),
        title_justify="left",
        title_style="",
        box=None,
        show_header=False,
        padding=(0, 2, 1, 0),
        pad_edge=False,
    )
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(overflow="fold")
    for label, paragraphs in _parts(one, here):
        if text := "\n".join(filter(None, paragraphs)):
            table.add_row(label, Text(text))
    return table


def _parts(one: Explanation, here: PatchRecord) -> Iterator[tuple[str, list[str]]]:
    ranges = (f"{name} {versions or '(any version)'}" for name, versions in one.affects.items())
    due = f"{here.library} {here.version}: " if here.status is Status.AVAILABLE else ""
    yield "the bug", [" ".join(one.headline.split()), _paragraphs(one.bug)]
    yield "you see", list(one.messages)
    yield "affected", [" and ".join(ranges)]
    yield "here", [due + here.reason]
    yield "measured", [str(here.tested)]
    yield "the mend", [_paragraphs(one.mend)]
    yield "changes", [_change(one.library, it.target, it.how, it.affects) for it in one.targets]
    yield "differs", [one.caution]
    yield (
        "settings",
        [
            f"{it.name}={' or '.join(map(repr, it.choices))}: {it.help} "
            f"({it.variable} from outside; {it.choices[0]!r} by default)"
            for it in one.settings
        ],
    )
    yield "ask for it", list(one.switch_on)
    yield "leave out", list(one.switch_off)
    yield "upstream", list(one.upstream)
    yield "see also", [f"patchkit diff {one.id}", f"patchkit verify {one.id}"]


def _paragraphs(markdown: str) -> str:
    """Lines that were broken for a source file are joined."""
    return "\n".join(" ".join(part.split()) for part in markdown.split("\n\n"))


def _change(library: str, target: str, how: str, affects: str) -> str:
    return f"{target} {how}" + (f" ({library} {affects})" if affects else "")

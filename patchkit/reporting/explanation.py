"""The explanation of a patch, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..patch import Status

if TYPE_CHECKING:
    from rich.table import Table

    from ..catalogue.explanation import ExplainedTarget, Explanation
    from .record import PatchRecord

WIDEST = 100
"""Columns; longer lines are hard to read."""


def as_table(patch: Explanation, record: PatchRecord) -> Table:
    """Return a table of labelled paragraphs.

    Args:
        patch: its explanation.
        record: its state on the installed versions.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text.assemble((patch.id, "bold"), f"\n{patch.title}\n"),
        title_justify="left",
        title_style="",
        box=None,
        show_header=False,
        padding=(0, 2, 1, 0),
        pad_edge=False,
    )
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(overflow="fold")
    for label, paragraphs in _parts(patch, record):
        if text := "\n".join(filter(None, paragraphs)):
            table.add_row(label, Text(text))
    return table


def _parts(patch: Explanation, record: PatchRecord) -> Iterator[tuple[str, list[str]]]:
    ranges = (f"{name} {versions or '(any version)'}" for name, versions in patch.affects.items())
    due = f"{record.library} {record.version}: " if record.status is Status.AVAILABLE else ""
    yield "the bug", [" ".join(patch.headline.split()), _paragraphs(patch.bug)]
    yield "you see", list(patch.messages)
    yield "affected", [" and ".join(ranges)]
    yield "here", [due + record.reason]
    yield "measured", [str(record.tested)]
    yield "the mend", [_paragraphs(patch.mend)]
    yield "changes", [_change(patch.library, target) for target in patch.targets]
    yield "differs", [patch.caution]
    yield (
        "settings",
        [
            f"{setting.name}={' or '.join(map(repr, setting.choices))}: {setting.help} "
            f"({setting.variable} from outside; {setting.choices[0]!r} by default)"
            for setting in patch.settings
        ],
    )
    yield "ask for it", list(patch.switch_on)
    yield "leave out", list(patch.switch_off)
    yield "upstream", list(patch.upstream)
    yield "see also", [f"patchkit diff {patch.id}", f"patchkit verify {patch.id}"]


def _paragraphs(markdown: str) -> str:
    """Join the lines of each paragraph."""
    return "\n".join(" ".join(part.split()) for part in markdown.split("\n\n"))


def _change(library: str, target: ExplainedTarget) -> str:
    versions = f" ({library} {target.affects})" if target.affects else ""
    return f"{target.target} {target.how}{versions}"

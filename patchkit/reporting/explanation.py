"""The explanation of a patch, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..patch import Status
from ..text import wrap_lines

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

    from ..catalogue.explanation import ExplainedTarget, Explanation
    from .record import PatchRecord

WIDEST = 100
"""Columns; longer lines are hard to read."""


@dataclass(frozen=True)
class PrintedExplanation:
    """An explanation for a rich console: a table of labelled paragraphs.

    Where a word would not fit beside the labels, they stand above. Names, commands and links then
    run over the edge rather than being broken, so that they can be copied.
    """

    patch: Explanation
    record: PatchRecord

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        parts = {
            label: text
            for label, paragraphs in _parts(self.patch, self.record)
            if (text := "\n".join(filter(None, paragraphs)))
        }
        words = (word for text in parts.values() for word in text.split())
        beside_the_labels = options.max_width - max(map(len, parts)) - 2
        if max(map(len, words)) <= beside_the_labels:
            yield _table(self.patch, parts)
        else:
            yield from _below_each_other(self.patch, parts, options.max_width)


def _table(patch: Explanation, parts: Mapping[str, str]) -> Table:
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
    for label, text in parts.items():
        table.add_row(label, Text(text))
    return table


def _below_each_other(patch: Explanation, parts: Mapping[str, str], width: int) -> Iterator[Text]:
    from rich.text import Text

    yield Text(patch.id, style="bold", overflow="ignore")
    yield Text(f"{patch.title}\n")
    for label, text in parts.items():
        yield Text(label, style="cyan")
        for paragraph in text.splitlines():
            for line in wrap_lines(paragraph, "", "", width, break_long_words=False):
                yield Text(line, overflow="ignore")
        yield Text("")


def _parts(patch: Explanation, record: PatchRecord) -> Iterator[tuple[str, list[str]]]:
    ranges = (f"{name} {versions or '(any version)'}" for name, versions in patch.affects.items())
    due = f"{record.library} {record.version}: " if record.status is Status.AVAILABLE else ""
    yield "the bug", [" ".join(patch.headline.split()), _paragraphs(patch.bug)]
    yield "you see", list(patch.messages)
    yield "affected", [" and ".join(ranges)]
    yield "here", [due + record.reason]
    yield "measured", [str(record.tested)]
    yield "the fix", [_paragraphs(patch.fix)]
    # Its page has the other paragraphs of the reasons.
    yield "why so", [_paragraphs(patch.why.partition("\n\n")[0])]
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

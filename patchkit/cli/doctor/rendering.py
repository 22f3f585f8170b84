"""Render a diagnosis as text: the steps first, then the sections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ...about import __version__
from ...text import wrap_lines

if TYPE_CHECKING:
    from rich.text import Text

    from .section import Section, SectionRow, Step

WIDTH = 80
_LABEL = 18
Line = tuple[str, str]
"""A line and its style for rich, which may be empty."""


def as_text(steps: Iterable[Step], sections: Iterable[Section]) -> str:
    return "\n".join(text for text, _ in lines(tuple(steps), sections))


def as_rich(steps: Iterable[Step], sections: Iterable[Section], width: int) -> Text:
    """Return the text with colours, for a terminal of this width."""
    from rich.text import Text

    styled = lines(tuple(steps), sections, min(width, WIDTH))
    return Text("\n").join(Text(text, style=style) for text, style in styled)


def lines(steps: Sequence[Step], sections: Iterable[Section], width: int = WIDTH) -> Iterator[Line]:
    yield f"patchkit {__version__} doctor", "bold"
    yield "", ""
    yield "What to do", "bold"
    if not steps:
        yield "  Nothing.", "green"
    for number, step in enumerate(steps, 1):
        yield from _step(number, step, width)
    for section in sections:
        yield from _section(section, width)


def _step(number: int, step: Step, width: int) -> Iterator[Line]:
    style = "red" if step.wrong else ""
    for line in _fold(step.what, f"{number:>2}. ", " " * 4, width):
        yield line, style
    for place, command in enumerate(step.do):
        if place:
            yield "    or", ""
        for line in command.splitlines():
            yield f"      {line}", "cyan"


def _section(section: Section, width: int) -> Iterator[Line]:
    yield "", ""
    yield section.title, "bold"
    for row in section.rows:
        yield from _row(row, any(row.label for row in section.rows), width)


def _row(row: SectionRow, has_labels: bool, width: int) -> Iterator[Line]:
    style = "yellow" if row.alarming else ""
    if not has_labels:
        for line in _fold(row.text, "  ", "  ", width):
            yield line, style
        return
    label = f"  {row.label:<{_LABEL - 2}}"
    if len(row.label) > _LABEL - 3:
        yield f"  {row.label}", style
        label = " " * _LABEL
    for line in _fold(row.text, label, " " * _LABEL, width):
        yield line, style


def _fold(text: str, first: str, others: str, width: int) -> list[str]:
    return wrap_lines(" ".join(text.split()), first, others, width) or [first.rstrip()]

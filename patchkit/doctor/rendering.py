"""A diagnosis as text: what to do first, then what was found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import __version__
from ..wording import folded

if TYPE_CHECKING:
    from rich.text import Text

    from .diagnosis import Diagnosis
    from .section import Row, Section, Step

WIDTH = 80
_LABEL = 18
Line = tuple[str, str]
"""A line and how a terminal shows it: a style of rich, or nothing."""


def as_text(diagnosis: Diagnosis) -> str:
    return "\n".join(text for text, _ in lines(diagnosis))


def as_rich(diagnosis: Diagnosis, width: int) -> Text:
    """The same with colours, for a terminal of so many columns."""
    from rich.text import Text

    found = lines(diagnosis, min(width, WIDTH))
    return Text("\n").join(Text(text, style=style) for text, style in found)


def lines(diagnosis: Diagnosis, width: int = WIDTH) -> Iterator[Line]:
    yield f"patchkit {__version__} doctor", "bold"
    yield "", ""
    yield "What to do", "bold"
    if not diagnosis.steps:
        yield "  Nothing.", "green"
    for number, step in enumerate(diagnosis.steps, 1):
        yield from _step(number, step, width)
    for section in diagnosis.sections:
        yield from _section(section, width)


def _step(number: int, step: Step, width: int) -> Iterator[Line]:
    style = "red" if step.wrong else ""
    for line in _folded(step.what, f"{number:>2}. ", " " * 4, width):
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
        yield from _row(row, any(one.label for one in section.rows), width)


def _row(row: Row, labelled: bool, width: int) -> Iterator[Line]:
    style = "yellow" if row.alarming else ""
    if not labelled:
        for line in _folded(row.text, "  ", "  ", width):
            yield line, style
        return
    label = f"  {row.label:<{_LABEL - 2}}"
    if len(row.label) > _LABEL - 3:
        yield f"  {row.label}", style
        label = " " * _LABEL
    for line in _folded(row.text, label, " " * _LABEL, width):
        yield line, style


def _folded(text: str, first: str, others: str, width: int) -> list[str]:
    return folded(" ".join(text.split()), first, others, width) or [first.rstrip()]

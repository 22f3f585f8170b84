"""What the tables and the pages of all sweeps have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .verdicts import C, CellVerdict, Group, Judged

if TYPE_CHECKING:
    from rich.text import Text

HEADINGS = {
    "broken": "Worse with patchkit",
    "differs": "Other numbers with patchkit",
    "untried": "What was not tried",
    "fails": "What fails both ways",
    "fixed": "What patchkit fixes",
    "explained": "Other numbers, and why",
    "limited": "What needs more memory or time",
}
"""Of the sections of a page, by the name of an outcome, in order."""


def glyph(verdict: CellVerdict[Any] | None) -> Text:
    """Return the sign of a verdict in a table of a terminal."""
    from rich.text import Text

    if verdict is None:
        return Text(".", style="dim")
    return Text(verdict.outcome.glyph, style=verdict.outcome.style)


def legend(results: Judged[Any]) -> Iterator[Text]:
    """Yield a line for each outcome in a terminal."""
    from rich.text import Text

    for outcome, number in results.counts():
        yield Text.assemble((outcome.glyph, outcome.style), f"  {number} {outcome.meaning}")


def because(group: Group[Any]) -> str:
    return f" ({group.reason})" if group.reason else ""


def measured_on(results: Judged[Any]) -> Iterator[str]:
    """Yield the sentence of a page that names date, platform and versions."""
    environment = results.environment
    if environment:
        versions = ", ".join(
            f"{name} {version}" for name, version in environment["versions"].items() if version
        )
        yield (
            f"Measured on {environment['date']}, {environment['platform']}, Python "
            f"{environment['python']}: {versions}."
        )
        yield ""


def counted(results: Judged[Any]) -> Iterator[str]:
    """Yield the table of a page that explains the signs."""
    counts = results.counts()
    if counts:
        yield from ("| sign | cells | meaning |", "| :-: | --: | --- |")
        yield from (
            f"| `{outcome.glyph}` | {number} | {outcome.meaning} |" for outcome, number in counts
        )
        yield ""


def row(names: Iterable[str], verdicts: Iterable[CellVerdict[Any] | None]) -> str:
    """Return a row of a table in a page."""
    signs = (f"`{verdict.outcome.glyph}`" if verdict else "" for verdict in verdicts)
    return f"| {' | '.join((*names, *signs))} |"


def head(names: Iterable[str], columns: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the head of such a table; a column has its name in lines."""
    heads, names = ["<br>".join(column) for column in columns], list(names)
    yield f"| {' | '.join((*names, *heads))} |"
    yield f"|{' --- |' * len(names)}{' :-: |' * len(heads)}"


def section(
    heading: str, groups: Iterable[Group[C]], places: Callable[[Group[C]], str]
) -> Iterator[str]:
    """Yield a section of a page: what happens in some cells, where and why."""
    rows = [f"| {code(g.text)} | {places(g)} | {escaped(g.reason)} |" for g in groups]
    if rows:
        yield from (heading, "", "| what happens | where | why |", "| --- | --- | --- |")
        yield from (*rows, "")


def code(text: str) -> str:
    """Return a text as code in a cell of a table."""
    return f"`{text.replace('`', chr(39)).replace('|', '/')}`" if text else ""


def escaped(text: str) -> str:
    """Return a text for a cell of a table."""
    return text.replace("|", "\\|")

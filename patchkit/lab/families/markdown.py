"""Write the results of a sweep as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .model_types import TASKS
from .records import Cell
from .results import Results, groups
from .verdicts import OUTCOMES, Outcome

TITLES = {
    "causal": "Causal language models",
    "seq2seq": "Sequence-to-sequence models",
    "classification": "Sequence classification",
    "vision": "Vision-language models",
}
_HEADINGS = {
    "broken": "Worse with patchkit",
    "differs": "Other numbers with patchkit",
    "explained": "Other numbers, and why",
    "mended": "What patchkit fixes",
    "fails": "What fails both ways",
}


def as_markdown(results: Results) -> str:
    """Return a table for each task, then what is to be said of its cells."""
    return "\n".join(_lines(results))


def _lines(results: Results) -> Iterator[str]:
    environment = results.environment
    if environment:
        versions = ", ".join(
            f"{name} {version}" for name, version in environment["versions"].items()
        )
        yield (
            f"Measured {environment['date']} on {environment['platform']}, "
            f"Python {environment['python']}: {versions}."
        )
        yield ""
    counts = results.counts()
    if counts:
        yield from ("| | cells | meaning |", "| :-: | --: | --- |")
        yield from (
            f"| `{outcome.glyph}` | {number} | {outcome.meaning} |" for outcome, number in counts
        )
        yield ""
    for task in TASKS:
        yield from _table(results, task)
    for name, heading in _HEADINGS.items():
        yield from _section(results, OUTCOMES[name], heading)
    if results.unbuilt:
        yield from ("## No tiny model", "")
        yield "No tiny model of these types could be built, so nothing is known about them."
        yield ""
        yield from ("| type | task | why |", "| --- | --- | --- |")
        for build in results.unbuilt:
            subject = build.subject
            yield f"| {subject.type} | {subject.task} | {_code(build.error)} |"
        yield ""


def _table(results: Results, task: str) -> Iterator[str]:
    rows = results.rows(task)
    if not rows:
        return
    yield from (f"## {TITLES[task]}", "")
    heads = ["<br>".join(head) for head in results.heads]
    yield f"| type | {' | '.join(heads)} |"
    yield f"| --- |{' :-: |' * len(heads)}"
    for row in rows:
        glyphs = (f"`{cell.outcome.glyph}`" if cell else "" for cell in row.cells)
        yield f"| {row.name} | {' | '.join(glyphs)} |"
    yield ""


def _section(results: Results, outcome: Outcome, heading: str) -> Iterator[str]:
    found = groups(verdict for verdict in results.verdicts if verdict.outcome is outcome)
    if not found:
        return
    yield from (f"## {heading}", "")
    yield from ("| what happens | where | why |", "| --- | --- | --- |")
    for group in found:
        places = [f"{name} ({', '.join(_places(cells))})" for name, cells in group.places().items()]
        why = "" if group.reason == group.text else group.reason
        yield f"| {_code(group.text)} | {', '.join(places)} | {_escape(why)} |"
    yield ""


def _places(cells: Iterable[Cell]) -> Iterator[str]:
    """Yield each mode with its methods."""
    methods: dict[str, list[str]] = {}
    for cell in cells:
        methods.setdefault(cell.mode, []).append(cell.method)
    for mode, names in methods.items():
        yield f"{mode} {' and '.join(names)}"


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39)).replace('|', '/')}`" if text else ""


def _escape(text: str) -> str:
    return text.replace("|", "\\|")

"""Write the results as a section of the documentation."""

from __future__ import annotations

from collections.abc import Iterator

from patchkit.text import short_list

from ..sweep.shown import HEADINGS, code, counted, head, measured_on, row, section
from ..sweep.verdicts import Group
from .answers import answers
from .records import FrameworkCell
from .results import FrameworkResults
from .tried import FRAMEWORKS

WAYS = {"run": "`run`", "legacy": "`run --legacy`"}
_MOST_PLACES = 8


def as_markdown(results: FrameworkResults) -> str:
    """Return a table, its legend, what is to be said, and versions."""
    return "\n".join(_lines(results)).rstrip("\n")


def _lines(results: FrameworkResults) -> Iterator[str]:
    yield from ("| framework | in fp16 | in bf16 | with patchkit |", "| --- | --- | --- | --- |")
    for answer in answers(results):
        names = FRAMEWORKS[answer.framework].title, answer.fp16, answer.bf16
        yield f"| {' | '.join(names)} | {code(answer.start)} |"
    yield from ("", "## What was measured", "")
    yield from measured_on(results)
    yield from counted(results)
    columns = ((*mode.split("/"), WAYS[way]) for mode, way in results.columns())
    yield from head(("framework", "task", "method"), columns)
    for (name, *rest), verdicts in results.rows():
        yield row((FRAMEWORKS[name].title, *rest), verdicts)
    yield ""
    for name, heading in HEADINGS.items():
        yield from section(f"## {heading}", results.groups(name), _places)
    said = results.said()
    if said:
        yield from ("## What patchkit says", "", "| framework | line |", "| --- | --- |")
        for name, lines in said.items():
            yield from (f"| {FRAMEWORKS[name].title} | {code(line)} |" for line in lines)
        yield ""
    yield from ("## Versions", "", "| framework | versions | remarks |", "| --- | --- | --- |")
    for name, versions in results.versions.items():
        listed = ", ".join(f"{name} {version}" for name, version in versions.items())
        yield f"| {FRAMEWORKS[name].title} | {listed} | {FRAMEWORKS[name].note} |"


def _places(group: Group[FrameworkCell]) -> str:
    """Return frameworks with tasks and methods, and the modes and ways of each."""
    modes: dict[str, dict[str, list[str]]] = {}
    for cell in group.cells:
        place = f"{FRAMEWORKS[cell.framework].title} {cell.task} {cell.method}"
        modes.setdefault(place, {}).setdefault(cell.mode, []).append(WAYS[cell.way])
    places = [
        f"{place} ({', '.join(f'{mode} {_both(ways)}' for mode, ways in found.items())})"
        for place, found in modes.items()
    ]
    return short_list(places, _MOST_PLACES)


def _both(ways: list[str]) -> str:
    return " and ".join(ways)

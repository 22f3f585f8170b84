"""Write the results as a section of the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchkit.text import short_list

from ..families.verdicts import OUTCOMES
from .known import reason
from .results import Results, Verdict
from .strategies import STRATEGIES

_HEADINGS = {
    "broken": "Worse with patchkit",
    "differs": "Other numbers with patchkit",
    "fails": "What fails both ways",
    "fixed": "What patchkit fixes",
    "explained": "Other numbers, and why",
    "limited": "What needs more time",
}
_MOST_PLACES = 6


def as_markdown(results: Results) -> str:
    """Return a table, its legend, and what is to be said."""
    return "\n".join(_lines(results))


def _lines(results: Results) -> Iterator[str]:
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
    yield from ("| sign | cells | meaning |", "| :-: | --: | --- |")
    for outcome, number in results.counts():
        yield f"| `{outcome.glyph}` | {number} | {outcome.meaning} |"
    yield ""
    heads = ["<br>".join((*mode.split("/"), method)) for mode, method in results.columns()]
    yield f"| strategy | trainer | {' | '.join(heads)} |"
    yield f"| --- | --- |{' :-: |' * len(heads)}"
    for strategy, trainer, verdicts in results.rows():
        glyphs = (f"`{verdict.outcome.glyph}`" if verdict else "" for verdict in verdicts)
        yield f"| {STRATEGIES[strategy].meaning} | {trainer} | {' | '.join(glyphs)} |"
    for name, heading in _HEADINGS.items():
        found = results.stories(OUTCOMES[name])
        if found:
            yield from ("", f"### {heading}", "")
            yield from ("| what happens | where | why |", "| --- | --- | --- |")
            yield from (_row(*story) for story in found.items())


def _row(text: str, verdicts: Sequence[Verdict]) -> str:
    told = text.replace("`", "'").replace("|", "/")
    known = reason(verdicts[0].with_patchkit).replace("|", "\\|")
    return f"| `{told}` | {short_list(_places(verdicts), _MOST_PLACES)} | {known} |"


def _places(verdicts: Sequence[Verdict]) -> list[str]:
    """Return strategies with modes and methods, and the trainers of each."""
    trainers: dict[str, list[str]] = {}
    for verdict in verdicts:
        cell = verdict.cell
        trainers.setdefault(f"{cell.strategy} {cell.mode} {cell.method}", []).append(cell.trainer)
    return [f"{place} ({', '.join(names)})" for place, names in trainers.items()]

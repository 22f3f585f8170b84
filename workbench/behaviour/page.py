"""Show the differences as lines, and as the tables of a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from . import comparing
from .comparing import BACK, FIXED, NAMED, NEITHER, OPEN, TOLD, Expected, FactChange, Run, shown

MARKS = ("<!-- behaviour: begin -->", "<!-- behaviour: end -->")


def lines(
    plain: Sequence[Run],
    layered: Sequence[Run],
    found: Sequence[FactChange],
    rows: Sequence[Expected],
    only_open: bool,
) -> Iterator[str]:
    """Yield each difference, then what is not as it should be, then how many there are."""
    for difference in found:
        if only_open and difference.state != OPEN:
            continue
        for old, before, new, after in difference.values[-1:]:
            span = f"{_release(old)} -> {_release(new)}"
            yield f"[{difference.state}] {difference.label} ({span}): {shown(before)} -> {shown(after)}"
    for difference in found:
        if difference.problem:
            yield f"problem: {difference.label}: {difference.problem}"
    used = {id(difference.row) for difference in found}
    for row in rows:
        if id(row) not in used:
            yield f"problem: no difference is as expected.toml says: {row.what}"
    for line in comparing.by_the_layer(plain, layered):
        yield f"only with the layer: {line}"
    if not only_open:
        for line in comparing.raising(plain):
            yield f"raises: {line}"
    yield ", ".join(f"{count} {state}" for state, count in _counts(found).items())


def tables(plain: Sequence[Run], layered: Sequence[Run], found: Sequence[FactChange]) -> str:
    """Return the tables of the page, as Markdown."""
    text = [
        "",
        "| TRL | Transformers | PEFT | Accelerate | Datasets | programs | facts |",
        "| --- |" + " --- |" * 6,
    ]
    for run in plain:
        names = ("trl", "transformers", "peft", "accelerate", "datasets")
        facts = sum(len(facts) for facts in run.records.values())
        cells = [*(run.releases[name] for name in names), str(len(run.records)), str(facts)]
        text.append(f"| {' | '.join(cells)} |")
    counts = _counts(found)
    asked = ", ".join(f"`{run.layer}`" for run in layered)
    text += [
        "",
        (
            f"With the newest releases the programs ran with the layer, too ({asked}). Of {len(found)} "
            f"facts that differ and raise nothing, {counts[FIXED]} are as before with `legacy=True`, "
            f"{counts[NAMED]} more if the releases are named, {counts[TOLD]} are told, "
            f"{counts[NEITHER]} need neither, {counts[BACK]} differ in releases between and are as "
            f"in the oldest again, and {counts[OPEN]} are open."
        ),
        "",
        "| program | facts that differ | fixed | fixed if the releases are named | told | needs neither | as before | open |",
        "| --- |" + " --- |" * 7,
    ]
    for program in sorted({difference.program for difference in found}):
        mine = [difference for difference in found if difference.program == program]
        numbers = _counts(mine)
        cells = [
            str(len(mine)),
            *(str(numbers[state] or "") for state in (FIXED, NAMED, TOLD, NEITHER, BACK, OPEN)),
        ]
        text.append(f"| `{program}` | {' | '.join(cells)} |")
    text += [
        "",
        "| what differs | since | facts | what patchkit does |",
        "| --- | --- | --- | --- |",
    ]
    by_row: dict[int, list[FactChange]] = {}
    for difference in found:
        if difference.row is not None and difference.state in (TOLD, NEITHER):
            by_row.setdefault(id(difference.row), []).append(difference)
    for mine in by_row.values():
        row = mine[0].row
        assert row is not None
        since = sorted({new.age for difference in mine for _, _, new, _ in difference.values})
        release = f"Transformers {since[0][0]}, TRL {since[0][1]}"
        does = f"tells it: {row.told}" if row.told else f"nothing: {row.because}"
        text.append(f"| {row.what} | {release} | {len(mine)} | {does} |")
    return "\n".join(text) + "\n"


def _counts(found: Sequence[FactChange]) -> dict[str, int]:
    counted = Counter(difference.state for difference in found)
    return {state: counted[state] for state in (FIXED, NAMED, TOLD, NEITHER, BACK, OPEN)}


def _release(run: Run) -> str:
    return f"transformers {run.releases['transformers']}, trl {run.releases['trl']}"

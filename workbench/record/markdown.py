"""Render a view as Markdown, for documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from patchkit.matrix.show.grid import Cell, Grid, PatchRow, span
from patchkit.matrix.show.states import WORST_FIRST
from patchkit.matrix.show.view import View


def as_markdown(view: View) -> str:
    """Return a table per library; neighbouring releases with the same result share a column.

    The result is that on the bug, not on the evidence: if some releases of a column were run and
    others only read, a cell says how many.
    """
    lines = [f"Measured: {view.source}.", ""]
    if view.grids:
        meanings = (f"`{state.glyph}` {state.meaning}" for state in WORST_FIRST)
        lines += [f"{'; '.join(meanings)}. A number is that of releases, if not all.", ""]
    for grid in view.grids:
        lines += [f"### {_escape(grid.name)}", "", *_table(grid), ""]
    lines += _sets(view)
    sections = {
        "To be looked into": view.remarks,
        "Not measured": view.gaps,
        "Noted of releases": view.asides,
    }
    for title, remarks in sections.items():
        if remarks:
            lines += [f"### {title}", "", *(f"- {_escape(line)}" for line in remarks), ""]
    return "\n".join(lines)


def _table(grid: Grid) -> Iterator[str]:
    if grid.ticks:
        groups = list(_groups(grid))
        heads = [span([grid.columns[at] for at in group]) for group in groups]
    else:
        groups = [[at] for at in range(len(grid.columns))]
        heads = [str(number) for number in range(1, len(groups) + 1)]
    yield _line(["patch", *heads])
    yield _line(["---", *(":-:" for _ in heads)])
    for row in grid.rows:
        yield _line([_name(row), *(_summary([row.cells[at] for at in group]) for group in groups)])


def _name(row: PatchRow) -> str:
    return f"`{row.patch}`" + ("" if row.known else " (no longer in the catalogue)")


def _groups(grid: Grid) -> Iterator[list[int]]:
    """Yield groups of neighbouring columns in which no patch has two different results."""
    group: list[int] = []
    kinds = [""] * len(grid.rows)
    for at in range(len(grid.columns)):
        # Not measured has no kind: nothing contradicts it.
        column_kinds = [row.cells[at].state.kind for row in grid.rows]
        pairs = list(zip(kinds, column_kinds, strict=True))
        if group and any(old and new and old != new for old, new in pairs):
            yield group
            group, kinds = [], column_kinds
        else:
            kinds = [old or new for old, new in pairs]
        group.append(at)
    if group:
        yield group


def _summary(cells: Sequence[Cell]) -> str:
    numbers = {
        state.glyph: sum(cell.state is state for cell in cells)
        for state in WORST_FIRST
        if any(cell.state is state for cell in cells)
    }
    if len(numbers) == 1:
        return f"`{next(iter(numbers))}`"
    return " ".join(f"{number} `{glyph}`" for glyph, number in numbers.items())


def _sets(view: View) -> Iterator[str]:
    """Yield a table of the versions in each numbered column."""
    if not view.sets:
        return
    names = dict.fromkeys(name for where in view.sets for name in where[0].versions)
    yield _line(["set", *names, "Python", "platform", "device", "date"])
    yield _line(["---"] * (len(names) + 5))
    for number, where in enumerate(view.sets, 1):
        versions = (where[0].versions.get(name, "") for name in names)
        facts = (
            _distinct(environment.python for environment in where),
            _distinct(environment.platform for environment in where),
            _distinct(environment.device for environment in where),
            _distinct(environment.date for environment in where),
        )
        yield _line([str(number), *versions, *facts])
    yield ""


def _distinct(texts: Iterable[str]) -> str:
    return ", ".join(sorted(set(texts)))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _escape(text: str) -> str:
    """Escape text: an error message may hold characters that are markup in Markdown."""
    for sign in "\\`*_<>[]#|":
        text = text.replace(sign, "\\" + sign)
    return text

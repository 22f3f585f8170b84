"""A report as text for a terminal or a file, and as HTML for a notebook."""

from __future__ import annotations

import html
import io
from typing import TYPE_CHECKING

from .environment import looked_up_once
from .patch import Status

if TYPE_CHECKING:
    from rich.table import Table

    from .reporting import PatchRecord, Report

STYLES = {
    Status.APPLIED: "green",
    Status.PENDING: "cyan",
    Status.AVAILABLE: "cyan",
    Status.DRIFTED: "bold red",
    Status.OVERRIDDEN: "bold yellow",
    Status.FAILED: "bold red",
}
_ORDER = [
    Status.FAILED,
    Status.DRIFTED,
    Status.OVERRIDDEN,
    Status.APPLIED,
    Status.PENDING,
    Status.AVAILABLE,
    Status.DISABLED,
    Status.NOT_AFFECTED,
    Status.NOT_INSTALLED,
]


def important_first(report: Report) -> list[PatchRecord]:
    return sorted(report, key=lambda one: _ORDER.index(one.status))


@looked_up_once()
def as_table(report: Report) -> Table:
    """A rich table, for a console that may have colours."""
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=f"patchkit: {report.summary()}",
        title_justify="left",
        box=None,
        show_header=False,
        padding=(0, 2, 0, 0),
    )
    table.add_column()
    table.add_column(overflow="fold")
    for one in important_first(report):
        library = f" ({one.library} {one.version or 'absent'})" if one.library else ""
        what = Text(one.id + library, style="bold")
        what.append(f"\n{one.title}\n{one.reason}", style="not bold")
        if untested := _untested(one):
            what.append(f"\n{untested}", style="not bold yellow")
        table.add_row(Text(one.status.value, style=STYLES.get(one.status, "dim")), what)
    return table


def _untested(one: PatchRecord) -> str:
    """What the reader must know of a patch that is due and was never measured here."""
    if one.status not in STYLES or one.tested.level not in ("none", "unknown"):
        return ""
    return f"untested: {one.tested}"


def as_text(report: Report) -> str:
    """The table without colours, for files and `print`."""
    return plain_text(as_table(report))


def plain_text(table: Table, width: int = 80) -> str:
    """A rich table without colours."""
    from rich.console import Console

    console = Console(
        file=io.StringIO(), width=width, color_system=None, highlight=False, force_jupyter=False
    )
    console.print(table)
    file = console.file
    assert isinstance(file, io.StringIO)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


@looked_up_once()
def as_html(report: Report) -> str:
    """A table whose rows unfold to the diffs."""
    rows = []
    for one in important_first(report):
        diff = html.escape(one.diff())
        folded = f"<details><summary>diff</summary><pre>{diff}</pre></details>" if diff else ""
        cells = (one.status.value, one.id, f"{one.library} {one.version or ''}")
        columns = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
        why = html.escape(": ".join(filter(None, [one.title, one.reason, _untested(one)])))
        rows.append(f"<tr>{columns}<td>{why}{folded}</td></tr>")
    head = "<tr><th>status</th><th>patch</th><th>library</th><th>what and why</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"

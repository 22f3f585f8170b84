"""`patchkit list`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from ..text import shorten
from .arguments import PatchId, chosen_ids, patches_option
from .output import colour_choice, show_json

if TYPE_CHECKING:
    from ..reporting.record import PatchRecord

SCHEMA = 1
_ON_REQUEST = "on request"


@click.command()
@click.argument("ids", nargs=-1, type=PatchId())
@click.option("--due", is_flag=True, help="Show only patches for bugs of the installed versions.")
@patches_option
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def list_patches(ids: tuple[str, ...], due: bool, as_json: bool) -> None:
    """List all patches, and which are due: the installed versions have their bug.

    \b
    Examples:
      patchkit list
      patchkit list --due
      patchkit list trl 'peft-merge-*'

    IDS are patch ids, globs and libraries; all by default. `patchkit explain ID` says more.
    Exit status: 0.
    """
    from ..engine.session import SESSION

    chosen = chosen_ids(SESSION.catalogue, ids)
    records = [
        record
        for record in SESSION.report()
        if (chosen is None or record.id in chosen) and (_is_due(record) or not due)
    ]
    if as_json:
        show_json({"schema": SCHEMA, "patches": list(map(_row, records))})
    else:
        _show(records, "None of these is due here." if due else "There are no patches.")


def _row(record: PatchRecord) -> dict[str, object]:
    """Return the facts that need no look into the matrix; `patchkit report --json` has all."""
    return {
        "id": record.id,
        "title": record.title,
        "library": record.library,
        "version": record.version,
        "affects": record.affects,
        "due": _is_due(record),
        "on_request": bool(record.opt_in),
        "status": record.status.value,
        "reason": record.reason,
    }


def _show(records: list[PatchRecord], nothing: str) -> None:
    """Print the list without rich, whose import takes longer than all the rest."""
    from ..reporting.advice import unreadable_versions

    colour = colour_choice()
    room = shutil.get_terminal_size().columns
    widest = max((len(record.id) for record in records), default=0)
    marks = _marks()
    for library in _libraries(records):
        here = [record for record in records if record.library == library]
        version = next((record.version for record in here if record.version), None)
        heading = " ".join(filter(None, [library, version])) or "patch files"
        click.echo(click.style(heading, bold=True), color=colour)
        for record in sorted(here, key=lambda record: list(marks).index(_word(record))):
            mark, style = marks[_word(record)]
            title = shorten(record.title, max(room - widest - 6, 0))
            line = f"  {click.style(mark, fg=style)} {record.id:<{widest}}  {title}"
            click.echo(line.rstrip(), color=colour)
    words = {_word(record) for record in records}
    legend = [f"{mark} {word}" for word, (mark, _) in marks.items() if word in words]
    click.echo("  ".join(legend) or nothing, color=colour)
    for reason, concerned in unreadable_versions(records).items():
        click.echo(f"{reason}; {concerned[0].advice}", color=colour)


def _is_due(record: PatchRecord) -> bool:
    from ..reporting.status import DUE

    return record.status in DUE


def _word(record: PatchRecord) -> str:
    from ..reporting.advice import is_opt_in
    from ..reporting.status import ROWS

    return _ON_REQUEST if is_opt_in(record) else ROWS[record.status].list_word


def _marks() -> dict[str, tuple[str, str | None]]:
    """Return the mark of each word and its colour, in the order of the list."""
    from ..reporting.status import TABLE

    rows = sorted(TABLE, key=lambda row: (not row.due, row.trouble))
    due = {row.list_word: (row.mark, row.colour) for row in rows if row.due}
    others = {row.list_word: (row.mark, row.colour) for row in rows if not row.due}
    return {**due, _ON_REQUEST: ("?", "cyan"), **others}


def _libraries(records: list[PatchRecord]) -> list[str]:
    """Return the libraries; those with due patches come first."""
    due = {record.library for record in records if _is_due(record)}
    libraries = {record.library for record in records}
    return sorted(libraries, key=lambda name: (name not in due, name))

"""`patchkit list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .patch_id import PatchId
from .patches_option import patches_option

if TYPE_CHECKING:
    from ..reporting.record import PatchRecord

SCHEMA = 1
_ON_REQUEST = "on request"


@click.command()
@click.argument("ids", nargs=-1, type=PatchId())
@click.option("--due", is_flag=True, help="Only what is due on the installed versions.")
@patches_option
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def list_patches(ids: tuple[str, ...], due: bool, as_json: bool) -> None:
    """All patches, and which are due on the installed versions.

    \b
    Examples:
      patchkit list
      patchkit list --due
      patchkit list 'trl-*' 'peft-*'

    IDS are patch ids and globs; all by default. `patchkit explain ID` says more of one.
    Exit status: 0.
    """
    from ..engine.session import SESSION
    from .output import show_json

    chosen = SESSION.catalogue.matching_ids(ids, "IDS") if ids else None
    records = [
        one
        for one in SESSION.report()
        if (chosen is None or one.id in chosen) and (_is_due(one) or not due)
    ]
    if as_json:
        show_json({"schema": SCHEMA, "patches": list(map(_row, records))})
    else:
        _show(records, "None of these is due here." if due else "There are no patches.")


def _row(one: PatchRecord) -> dict[str, object]:
    """What does not take the matrix to tell; `patchkit report --json` has all."""
    return {
        "id": one.id,
        "title": one.title,
        "library": one.library,
        "version": one.version,
        "affects": one.affects,
        "due": _is_due(one),
        "on_request": bool(one.opt_in),
        "status": one.status.value,
        "reason": one.reason,
    }


def _show(records: list[PatchRecord], nothing: str) -> None:
    """Without rich, whose import takes longer than all the rest."""
    import shutil

    from ..text import shorten
    from .output import coloured

    colour = coloured()
    room = shutil.get_terminal_size().columns
    widest = max((len(one.id) for one in records), default=0)
    marks = _marks()
    for library in _libraries(records):
        here = [one for one in records if one.library == library]
        heading = " ".join(filter(None, [library, here[0].version])) or "patch files"
        click.echo(click.style(heading, bold=True), color=colour)
        for one in sorted(here, key=lambda it: list(marks).index(_word(it))):
            mark, style = marks[_word(one)]
            left = max(room - widest - 6, 0)
            line = f"  {click.style(mark, fg=style)} {one.id:<{widest}}  {shorten(one.title, left)}"
            click.echo(line.rstrip(), color=colour)
    words = {_word(one) for one in records}
    legend = [f"{mark} {word}" for word, (mark, _) in marks.items() if word in words]
    click.echo("  ".join(legend) or nothing, color=colour)


def _is_due(record: PatchRecord) -> bool:
    from ..reporting.status import DUE

    return record.status in DUE


def _word(one: PatchRecord) -> str:
    from ..reporting.advice import is_opt_in
    from ..reporting.status import ROWS

    return _ON_REQUEST if is_opt_in(one) else ROWS[one.status].list_word


def _marks() -> dict[str, tuple[str, str | None]]:
    """Return the mark of each word and its colour, in the order of the list."""
    from ..reporting.status import TABLE

    due = {row.list_word: row.mark for row in TABLE if row.due}
    others = sorted((row for row in TABLE if not row.due), key=lambda row: row.trouble)
    return {**due, _ON_REQUEST: ("?", "cyan"), **{row.list_word: row.mark for row in others}}


def _libraries(records: list[PatchRecord]) -> list[str]:
    """Those with something due come first."""
    due = {one.library for one in records if _is_due(one)}
    return sorted({one.library for one in records}, key=lambda name: (name not in due, name))

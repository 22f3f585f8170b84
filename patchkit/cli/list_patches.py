"""`patchkit list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .patch_id import PatchId
from .patches_option import patches_option

if TYPE_CHECKING:
    from ..record import PatchRecord

SCHEMA = 1
_MARKS = {
    "due": ("*", "green"),
    "on request": ("?", "cyan"),
    "disabled": ("o", None),
    "not affected": ("-", None),
    "not installed": (".", None),
    "cannot be read": ("!", "red"),
}


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
    from ..session import SESSION
    from .output import show_json

    chosen = SESSION.catalogue.named(ids, "IDS") if ids else None
    records = [
        one
        for one in SESSION.report()
        if (chosen is None or one.id in chosen) and (one.status == "available" or not due)
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
        "due": one.status == "available",
        "on_request": bool(one.opt_in),
        "status": one.status.value,
        "reason": one.reason,
    }


def _show(records: list[PatchRecord], nothing: str) -> None:
    """Without rich, whose import takes longer than all the rest."""
    import shutil

    from ..wording import cut
    from .output import coloured

    colour = coloured()
    room = shutil.get_terminal_size().columns
    widest = max((len(one.id) for one in records), default=0)
    for library in _libraries(records):
        here = [one for one in records if one.library == library]
        heading = " ".join(filter(None, [library, here[0].version])) or "patch files"
        click.echo(click.style(heading, bold=True), color=colour)
        for one in sorted(here, key=lambda it: list(_MARKS).index(_word(it))):
            mark, style = _MARKS[_word(one)]
            left = max(room - widest - 6, 0)
            line = f"  {click.style(mark, fg=style)} {one.id:<{widest}}  {cut(one.title, left)}"
            click.echo(line.rstrip(), color=colour)
    words = {_word(one) for one in records}
    legend = [f"{mark} {word}" for word, (mark, _) in _MARKS.items() if word in words]
    click.echo("  ".join(legend) or nothing, color=colour)


def _word(one: PatchRecord) -> str:
    if one.status == "available":
        return "on request" if one.opt_in else "due"
    word = one.status.value.replace("-", " ")
    return word if word in _MARKS else "cannot be read"


def _libraries(records: list[PatchRecord]) -> list[str]:
    """Those with something due come first."""
    due = {one.library for one in records if one.status == "available"}
    return sorted({one.library for one in records}, key=lambda name: (name not in due, name))

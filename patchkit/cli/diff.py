"""`patchkit diff`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from .nothing_looked_at import exit_if_absent
from .patch_id import PatchId, chosen_ids
from .patches_option import patches_option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..catalogue.entries import Entry
    from ..matrix.preview import Preview

SCHEMA = 1


@click.command(short_help="Show what the patches change, as a unified diff.")
@click.argument("ids", nargs=-1, type=PatchId())
@patches_option
@click.option("--json", "as_json", is_flag=True, help="Print the diffs as JSON.")
def diff(ids: tuple[str, ...], as_json: bool) -> None:
    """Show what the patches change in the installed files, as a unified diff.

    \b
    Examples:
      patchkit diff
      patchkit diff trl-adapter-bf16-cast
      patchkit diff 'peft-*' > peft.diff

    IDS are patch ids, globs and libraries; by default all patches that are due, which means that
    the installed versions have the bug. Nothing is imported or changed. For a wrapped function, a
    line names the function and its wrapper. For a target with wildcards, the first few files are
    shown. `# drift` marks code that is not as expected and would be left alone.

    On a terminal, what a patch does comes first, and lines are folded. In a pipe or a file the
    text is what `patch -p0` reads.

    \b
    Exit status:
      0  all is well
      1  something is not as expected: it would drift
      69 nothing was looked at: the libraries are not installed
    """
    from ..catalogue.resolution import resolve
    from ..engine.session import SESSION
    from ..environment import cached_lookups
    from ..errors import UnreadableVersion
    from ..reporting.untested import reason_not_due
    from ..text import short_list

    catalogue = SESSION.catalogue
    chosen = chosen_ids(catalogue, ids)
    rows = []
    drift = False
    unreadable: dict[str, list[str]] = {}
    with cached_lookups():
        for entry in catalogue:
            if chosen is not None and entry.patch.id not in chosen:
                continue
            try:
                resolution = resolve(entry.patch)
            except ValueError as error:
                advice = f"; {error.advice}" if isinstance(error, UnreadableVersion) else ""
                unreadable.setdefault(f"{error}{advice}", []).append(entry.patch.id)
                continue
            if resolution.verdict is not None:
                if ids:
                    reason = reason_not_due(entry.patch, resolution)
                    click.echo(f"{entry.patch.id} is not due: {reason}", err=True)
                continue
            preview, problems = _preview(entry)
            drift |= bool(problems)
            text = str(preview or "")
            rows.append({"id": entry.patch.id, "drift": problems, "diff": text})
            if not as_json:
                _show(entry, text or "".join(f"# drift: {problem}\n" for problem in problems))
    for problem, concerned in unreadable.items():
        click.echo(f"{short_list(concerned)}: {problem}", err=True)
    if as_json:
        from .output import show_json

        show_json({"schema": SCHEMA, "diffs": rows})
    if drift or unreadable:
        sys.exit(1)
    exit_if_absent(catalogue, chosen)
    if not rows and not ids:
        click.echo("No patch is due here: the installed versions have none of the bugs.", err=True)


def _preview(entry: Entry) -> tuple[Preview | None, list[str]]:
    """Return what would be changed, and what is not as expected."""
    from ..matrix.preview import preview as make_preview

    try:
        preview = make_preview(entry.patch)
    except Exception as error:  # from the rule of a patch, or an unreadable file
        return None, [f"no diff can be made: {type(error).__name__}: {error}"]
    return preview, list(preview.drift)


def _show(entry: Entry, text: str) -> None:
    import shutil

    from .coloured_diff import echo_coloured
    from .folded_diff import folded
    from .output import is_terminal

    lines: Iterable[str] = [f"# {entry.patch.id}: {entry.patch.title}", *text.split("\n")[:-1]]
    if is_terminal():
        lines = folded(entry, text, shutil.get_terminal_size().columns)
    echo_coloured(lines)

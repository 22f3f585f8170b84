"""`patchkit diff`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from .patch_id import PatchId
from .patches_option import patches_option

if TYPE_CHECKING:
    from ..catalogue.entries import Entry
    from ..matrix.preview import Preview

SCHEMA = 1
_STYLES: dict[str, dict[str, Any]] = {
    "+++": {"bold": True},
    "---": {"bold": True},
    "+": {"fg": "green"},
    "-": {"fg": "red"},
    "@": {"fg": "cyan"},
    "#": {"fg": "yellow"},
}


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

    IDS are patch ids and globs; by default all patches that are due, which means that the
    installed versions have the bug. Nothing is imported or changed. For a wrapped function, a
    line names the function and its wrapper. For a target with wildcards, the first few files are
    shown. `# drift` marks code that is not as expected and would be left alone.

    \b
    Exit status:
      0  all is well
      1  something is not as expected: it would drift
    """
    from ..catalogue.resolution import resolve
    from ..engine.session import SESSION
    from ..environment import cached_lookups
    from ..reporting.untested import reason_not_due

    catalogue = SESSION.catalogue
    chosen = catalogue.matching_ids(ids, "IDS") if ids else set(catalogue.entries)
    rows = []
    drift = False
    with cached_lookups():
        for entry in catalogue:
            if entry.patch.id not in chosen:
                continue
            try:
                resolution = resolve(entry.patch)
            except ValueError as error:
                click.echo(f"{entry.patch.id}: {error}", err=True)
                drift = True
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
    if as_json:
        from .output import show_json

        show_json({"schema": SCHEMA, "diffs": rows})
    sys.exit(1 if drift else 0)


def _preview(entry: Entry) -> tuple[Preview | None, list[str]]:
    """Return what would be changed, and what is not as expected."""
    from ..matrix.preview import preview as make_preview

    try:
        preview = make_preview(entry.patch)
    except Exception as error:  # from the rule of a patch, or an unreadable file
        return None, [f"no diff can be made: {type(error).__name__}: {error}"]
    return preview, list(preview.drift)


def _show(entry: Entry, text: str) -> None:
    from .output import colour_choice

    for line in [f"# {entry.patch.id}: {entry.patch.title}", *text.split("\n")[:-1]]:
        style = _STYLES.get(line[:3].strip()) or _STYLES.get(line[:1]) or {}
        click.echo(click.style(line, **style), color=colour_choice())

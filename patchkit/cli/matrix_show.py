"""`patchkit matrix show`."""

from __future__ import annotations

from pathlib import Path

import click

from .forms import form_options
from .patch_id import PatchId


@click.command()
@click.argument("ids", nargs=-1, type=PatchId())
@click.option("--library", "libraries", multiple=True, help="Only this library; may be repeated.")
@click.option(
    "--by",
    type=click.Choice(["release", "set"]),
    default="release",
    show_default=True,
    help="Columns: releases of each library, or sets of versions that were run together.",
)
@form_options("table", "json")
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The matrix; that of this installation by default.",
)
def show(
    ids: tuple[str, ...],
    libraries: tuple[str, ...],
    by: str,
    form: str,
    file: Path | None,
) -> None:
    """Show what was measured, patches by releases.

    IDS are patch ids and globs; all by default.

    \b
    Examples:
      patchkit matrix show
      patchkit matrix show 'trl-*' --by set
    """
    from ..catalogue.entries import load
    from ..matrix.file import default_path, read
    from ..matrix.show.output import print_view
    from ..matrix.show.selection import select

    view = select(read(file or default_path()), load(), ids, libraries, by=by)
    print_view(view, form)

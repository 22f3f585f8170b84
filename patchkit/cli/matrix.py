"""`patchkit matrix` and `patchkit matrix show`."""

from __future__ import annotations

from pathlib import Path

import click

from .arguments import PatchId, form_options
from .group import LazyGroup

COMMANDS = {"show": "matrix", "scan": "matrix_scan"}


@click.group(cls=LazyGroup, modules=COMMANDS)
def matrix() -> None:
    """Show the measurements (which patch, on which versions), and scan releases."""


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

"""`patchkit matrix show`."""

from __future__ import annotations

from pathlib import Path

import click

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
@click.option(
    "--format", "form", type=click.Choice(["table", "markdown", "json"]), help="Default: table."
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a picture (.svg, .png) or Markdown (.md) instead.",
)
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The matrix; that of this installation by default.",
)
def show(
    ids: tuple[str, ...],
    libraries: tuple[str, ...],
    by: str,
    form: str | None,
    as_json: bool,
    output: Path | None,
    file: Path | None,
) -> None:
    """Show what was measured, patches by releases.

    IDS are patch ids and globs; all by default.

    \b
    Examples:
      patchkit matrix show
      patchkit matrix show 'trl-*' --by set
      patchkit matrix show --output matrix.svg
    """
    from ..catalogue.entries import load
    from ..matrix.file import default_path, read
    from ..matrix.show.output import check_ending, print_view, write
    from ..matrix.show.selection import select

    if as_json:
        if form not in (None, "json"):
            raise click.UsageError(f"--json and --format {form} contradict each other")
        form = "json"
    if output is not None:
        check_ending(output, form)
    view = select(read(file or default_path()), load(), ids, libraries, by=by)
    if output is not None:
        write(view, output)
    else:
        print_view(view, form or "table")

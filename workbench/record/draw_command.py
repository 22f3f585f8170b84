"""`python -m workbench draw`."""

from __future__ import annotations

from pathlib import Path

import click

from patchkit.cli.arguments import PatchId
from patchkit.errors import UsageError
from patchkit.matrix.records import MatrixError

_PICTURES = (".svg", ".png")
_ENDINGS = (*_PICTURES, ".md")


@click.command()
@click.argument("output", type=click.Path(dir_okay=False, path_type=Path))
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
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The matrix; that of this checkout by default.",
)
def draw(
    output: Path, ids: tuple[str, ...], libraries: tuple[str, ...], by: str, file: Path | None
) -> None:
    """Write the matrix to OUTPUT: as a picture (.svg, .png), or as Markdown (.md).

    IDS are patch ids and globs; all by default.

    \b
    Example:
      python -m workbench draw docs/matrix.svg
    """
    from patchkit.catalogue.entries import load
    from patchkit.matrix.file import default_path, read
    from patchkit.matrix.show.selection import select

    ending = output.suffix.lower()
    if ending not in _ENDINGS:
        raise UsageError(f"{output.name}: the ending must be one of {', '.join(_ENDINGS)}")
    view = select(read(file or default_path()), load(), ids, libraries, by=by)
    if ending in _PICTURES:
        from .picture import draw as draw_view

        content = draw_view(view, ending.removeprefix("."))
    else:
        from .markdown import as_markdown

        content = as_markdown(view).encode("utf-8")
    try:
        output.write_bytes(content)
    except OSError as error:
        raise MatrixError(f"cannot write {output}: {error.strerror}") from error

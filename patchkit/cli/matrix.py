"""`patchkit matrix` and `patchkit matrix show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .arguments import PatchId, form_options
from .group import LazyGroup
from .output import show_json

if TYPE_CHECKING:
    from ..matrix.show.grid import Cell, Grid
    from ..matrix.show.view import View

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
    ids: tuple[str, ...], libraries: tuple[str, ...], by: str, form: str, file: Path | None
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
    from ..matrix.show.selection import select

    view = select(read(file or default_path()), load(), ids, libraries, by=by)
    if form == "json":
        show_json(_as_data(view))
        return
    from rich.console import Console

    from ..matrix.show.terminal import as_text

    console = Console(highlight=False)
    text = as_text(view, console.width, ascii_only=console.options.ascii_only)
    console.print(text, soft_wrap=True)


def _as_data(view: View) -> dict[str, Any]:
    """Return every cell of every grid, even if it was not measured."""
    from ..matrix.show.states import WORST_FIRST

    return {
        "states": {state.name: state.meaning for state in WORST_FIRST},
        "grids": [_grid(grid) for grid in view.grids],
        "sets": [[vars(environment) for environment in environments] for environments in view.sets],
        "to_be_looked_into": list(view.remarks),
        "not_measured": list(view.gaps),
        "noted_of_releases": list(view.asides),
        "source": view.source,
    }


def _grid(grid: Grid) -> dict[str, Any]:
    return {
        "name": grid.name,
        "columns": list(grid.columns),
        "patches": [
            {"id": row.patch, "known": row.known, "cells": [_cell(cell) for cell in row.cells]}
            for row in grid.rows
        ],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "state": cell.state.name,
        "scan": cell.scan,
        "outcomes": list(cell.outcomes),
        "notes": list(cell.notes),
    }

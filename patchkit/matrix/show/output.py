"""Print a view of the matrix, for people or as JSON."""

from __future__ import annotations

import json
from typing import Any

from .grid import Cell, Grid
from .states import WORST_FIRST
from .view import View


def print_view(view: View, form: str) -> None:
    """Print a view as a `table` or as `json`."""
    import click

    if form == "json":
        click.echo(json.dumps(as_data(view), indent=2))
    else:
        from rich.console import Console

        from .terminal import as_text

        console = Console(highlight=False)
        text = as_text(view, console.width, ascii_only=console.options.ascii_only)
        console.print(text, soft_wrap=True)


def as_data(view: View) -> dict[str, Any]:
    """Return every cell of every grid, even if it was not measured."""
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

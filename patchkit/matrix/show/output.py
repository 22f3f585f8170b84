"""Print a view of the matrix."""

from __future__ import annotations

import json

from .view import View


def print_view(view: View, form: str) -> None:
    """Print a view.

    Args:
        view: the view.
        form: `table` or `json`.
    """
    import click

    if form == "json":
        from .data import as_data

        click.echo(json.dumps(as_data(view), indent=2))
    else:
        from rich.console import Console

        from .terminal import as_text

        console = Console(highlight=False)
        text = as_text(view, console.width, ascii_only=console.options.ascii_only)
        console.print(text, soft_wrap=True)

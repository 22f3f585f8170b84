"""`patchkit report`."""

from __future__ import annotations

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def report(as_json: bool) -> None:
    """What is due here, what is not, and why.

    Nothing is applied: a command line is a process of its own.
    """
    from rich.console import Console

    import patchkit

    from ..rendering import as_table

    current = patchkit.report()
    if as_json:
        click.echo(current.to_json())
    else:
        Console().print(as_table(current))

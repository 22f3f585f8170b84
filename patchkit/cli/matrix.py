"""`patchkit matrix`: the group."""

from __future__ import annotations

import click

from .group import LazyGroup

COMMANDS = {"show": "matrix_show", "scan": "matrix_scan"}


@click.group(cls=LazyGroup, modules=COMMANDS)
def matrix() -> None:
    """Show the measurements (which patch, on which versions), and scan releases."""

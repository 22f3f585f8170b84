"""`patchkit legacy`: the group."""

from __future__ import annotations

import click

from .group import LazyGroup

COMMANDS = {"show": "legacy_show"}


@click.group(cls=LazyGroup, modules=COMMANDS)
def legacy() -> None:
    """Show the table of changed public interfaces.

    \b
    Example:
      patchkit legacy show tokenizer
    """

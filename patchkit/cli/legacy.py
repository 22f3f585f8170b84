"""`patchkit legacy`: the group."""

from __future__ import annotations

import click

from .group import LazyGroup

COMMANDS = {"show": "legacy_show", "scan": "legacy_scan"}


@click.group(cls=LazyGroup, modules=COMMANDS)
def legacy() -> None:
    """Show the table of changed public interfaces, and hold it against releases.

    \b
    Examples:
      patchkit legacy show tokenizer
      patchkit legacy scan --last 3
    """

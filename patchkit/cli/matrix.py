"""`patchkit matrix`: the group."""

from __future__ import annotations

import click

from .group import LazyGroup

COMMANDS = {
    "show": "matrix_show",
    "scan": "matrix_scan",
    "record": "matrix_record",
    "check": "matrix_check",
    "bisect": "matrix_bisect",
}


@click.group(cls=LazyGroup, commands_in=COMMANDS)
def matrix() -> None:
    """What was measured, on which versions."""

"""`patchkit matrix`: the group."""

from __future__ import annotations

import click

from .group import LazyGroup

COMMANDS = {
    "show": "matrix_show",
    "scan": "matrix_scan",
    "record": "matrix_record",
    "check": "matrix_check",
}
GONE = {
    "bisect": "Measure version sets with `tox run -e matrix-1.15,matrix-1.16 -- ID`, merge them "
    "with `patchkit matrix record`, and read the range off `patchkit matrix check ID --json`.",
}


@click.group(cls=LazyGroup, modules=COMMANDS, removed=GONE)
def matrix() -> None:
    """Show, extend and check the measurements: which patch, on which versions."""

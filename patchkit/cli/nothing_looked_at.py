"""End a command that could look at nothing, since the libraries are not installed."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING

import click

from .exit_statuses import NOTHING_LOOKED_AT

if TYPE_CHECKING:
    from ..catalogue.entries import Catalogue


def exit_if_absent(catalogue: Catalogue, chosen: Collection[str] | None) -> None:
    """Say so and exit, if none of the libraries of these patches is installed for this Python.

    Args:
        catalogue: all patches.
        chosen: the ids of those that were to be looked at; None for all.
    """
    from ..environment import installed_version
    from ..text import short_list

    entries = [entry for entry in catalogue if chosen is None or entry.patch.id in chosen]
    libraries = sorted({entry.patch.library for entry in entries})
    if not libraries or any(map(installed_version, libraries)):
        return
    names = short_list(libraries, len(libraries))
    click.echo(
        f"Nothing was looked at: {sys.executable} has none of the libraries that these patches "
        f"fix ({names}). Install them there, or use the Python that trains: "
        "PYTHON -m patchkit ...",
        err=True,
    )
    sys.exit(NOTHING_LOOKED_AT)

"""`--patches FOLDER`: a project's own patches, for any command that reads the catalogue."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])


def patches_option(command: _Command) -> _Command:
    """Add the option to a command, which needs no argument for it: it sets `PATCHKIT_PATCHES`."""
    return click.option(
        "--patches",
        metavar="FOLDER",
        type=click.Path(),
        multiple=True,
        is_eager=True,
        expose_value=False,
        callback=_set_variable,
        help="Also load patches from this folder or .py file; may be repeated. "
        "PATCHKIT_PATCHES does the same.",
    )(command)


def _set_variable(
    context: click.Context, parameter: click.Parameter, paths: tuple[str, ...]
) -> None:
    from ..catalogue.folders import VARIABLE, resolve_paths, variable_for_children

    if paths and not context.resilient_parsing:
        os.environ[VARIABLE] = variable_for_children(resolve_paths(paths))

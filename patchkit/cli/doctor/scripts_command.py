"""Carry out `patchkit doctor SCRIPT…`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from ...environment import installed_version
from ...modernize.wanted import constraints as file_of_constraints
from ...reporting.pins import pins_here
from ..arguments import check_writable
from ..output import show, show_json
from .probe import probe
from .rendering import as_rich
from .scripts import Examined, examine
from .scripts_shown import no_set, sections, steps

_WITH_BFLOAT16 = frozenset({"native", "works"})


def show_scripts(
    paths: Sequence[Path], *, constraints: Path | None, no_bf16: bool, quick: bool, as_json: bool
) -> int:
    """Print what scripts want, write the file of constraints, and return the exit status.

    Raises:
        ScriptError: a path names no script, or the only script cannot be read.
        UsageError: the file exists, or cannot be written.
    """
    if constraints is not None:
        check_writable(constraints, "--constraints")
        file_of_constraints.check_is_new(constraints)
        no_bf16 = no_bf16 or (not quick and _lacks_bfloat16())
    examined = examine(paths, without_bfloat16=no_bf16)
    if constraints is not None and examined.chosen is not None:
        names = [script.name for script in examined.wanted]
        due = examined.due if examined.without_bfloat16 else None
        text = file_of_constraints.content(examined.chosen, names, due)
        file_of_constraints.write(constraints, text)
    if as_json:
        show_json(examined.to_dict())
    else:
        pins = pins_here()
        todo = [step.within(pins) for step in steps(examined)]
        show(as_rich(todo, sections(examined), Console().width))
        if constraints is not None:
            click.echo(_written(constraints, examined), err=examined.chosen is None)
    if constraints is not None and examined.chosen is None:
        return 1
    return examined.exit_status


def _written(file: Path, examined: Examined) -> str:
    if examined.chosen is None:
        return f"\n{file} was not written. {no_set(examined.apart)}"
    return f"\nwritten: {file}: {examined.chosen}\nUse it with `pip install -c {file} trl peft …`."


def _lacks_bfloat16() -> bool:
    """Tell whether torch finds a GPU that computes bfloat16 by emulation, or not at all."""
    if installed_version("torch") is None:
        return False
    gpus = (device for device in probe().get("devices", ()) if device["device"] != "cpu")
    return any(device["bfloat16"] not in _WITH_BFLOAT16 for device in gpus)

"""`patchkit doctor`."""

from __future__ import annotations

import sys

import click


@click.command()
@click.option(
    "--quick",
    is_flag=True,
    help="Leave out what needs torch, which takes seconds: devices, and bitsandbytes on them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def doctor(quick: bool, as_json: bool) -> None:
    """Say what is wrong with this installation, and what to do.

    Looks at versions and what they require of each other, devices and their precisions,
    bitsandbytes, patches that are due, variables of patchkit, and other tools that patch. Nothing
    is changed. What is printed holds no names of users, machines or folders, and may be pasted
    into an issue.

    \b
    Exit status:
      0  nothing is wrong, or only what patchkit mends
      1  something is wrong that patchkit does not mend: the first steps say what
    \b
    Examples:
      patchkit doctor
      patchkit doctor --quick            # a second, without importing torch
      patchkit doctor --json > doctor.json
      path/to/python -m patchkit doctor  # another installation with patchkit
    """
    from ..output import show, show_json
    from . import diagnose

    if as_json:
        diagnosis = diagnose(quick=quick)
        show_json(diagnosis.to_dict())
    else:
        from rich.console import Console

        from .rendering import as_rich

        waiting = "looking" if quick else "looking; importing torch takes some seconds"
        with Console(stderr=True).status(waiting):
            diagnosis = diagnose(quick=quick)
        show(as_rich(diagnosis.steps, diagnosis.sections, Console().width))
    sys.exit(diagnosis.exit_status)

"""`patchkit doctor`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ...errors import UsageError
from ..arguments import ScriptPath
from ..output import show, show_json


@click.command()
@click.argument("scripts", nargs=-1, metavar="[SCRIPT]...", type=ScriptPath())
@click.option(
    "--quick",
    is_flag=True,
    help="Leave out what needs torch, which takes seconds: devices, and bitsandbytes on them.",
)
@click.option(
    "--constraints",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="For scripts: write to this new file a set of versions that were run together and have "
    "all that the scripts name, for `pip install -c FILE`.",
)
@click.option(
    "--no-bf16",
    is_flag=True,
    help="For scripts: name the patches that are due on a device without bfloat16.  [default: "
    "where torch finds such a GPU, which --constraints looks for]",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def doctor(
    scripts: tuple[Path, ...], quick: bool, constraints: Path | None, no_bf16: bool, as_json: bool
) -> None:
    """Say what is wrong with this installation, and what to do; or what scripts want.

    Looks at versions and what they require of each other, devices and their precisions,
    bitsandbytes, patches that are due, variables of patchkit, and other tools that patch. Nothing
    is changed. What is printed holds no names of users, machines or folders, and may be pasted
    into an issue.

    With scripts, notebooks or folders of them, it tells for which releases each was written,
    whether it runs on what is installed, with or without the legacy layer, what of it is gone,
    and which changes would give it other results. Nothing of theirs is run.

    \b
    Exit status:
      0  nothing is wrong, or only what patchkit fixes; each script runs as it is
      1  something is wrong that patchkit does not fix: the first steps say what;
         a script does not run as it is, or was not read
    \b
    Examples:
      patchkit doctor
      patchkit doctor --quick            # a second, without importing torch
      patchkit doctor --json > doctor.json
      path/to/python -m patchkit doctor  # another installation with patchkit
      patchkit doctor train.py           # for which releases it was written
      patchkit doctor train.py --constraints versions.txt
    """
    from . import diagnose

    if scripts:
        from .scripts_command import show_scripts

        sys.exit(
            show_scripts(
                scripts, constraints=constraints, no_bf16=no_bf16, quick=quick, as_json=as_json
            )
        )
    if constraints or no_bf16:
        option = "--constraints" if constraints else "--no-bf16"
        raise UsageError(f"{option} is about scripts: name one, as in `patchkit doctor train.py`")
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

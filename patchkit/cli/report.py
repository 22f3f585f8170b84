"""`patchkit report`."""

from __future__ import annotations

import sys

import click

from .patches_option import patches_option


@click.command()
@patches_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def report(as_json: bool) -> None:
    """What is due here, what is not, and why.

    \b
    Examples:
      patchkit report
      patchkit report --json > report.json

    A command line is a process of its own: nothing is applied in it, and what a training has
    applied does not show here (print `patchkit.report()` in its script). What is due follows
    from the installed versions alone. `patchkit diff` finds each place that would be changed in
    the installed files, and those that are not as expected; `patchkit verify` shows each bug.

    \b
    Exit status:
      0  all is well
      1  a patch definition or an installed version cannot be read
    """
    import patchkit

    from ..reporting.status import TROUBLE
    from ..reporting.text import Printed
    from .output import show

    current = patchkit.report()
    if as_json:
        click.echo(current.to_json())
    else:
        show(Printed(current))
    sys.exit(1 if current.with_status(*TROUBLE) else 0)

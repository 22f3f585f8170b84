"""`patchkit report`."""

from __future__ import annotations

import sys

import click

from .patches_option import patches_option


@click.command()
@patches_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def report(as_json: bool) -> None:
    """Report which patches are due here, which are not, and why.

    \b
    Examples:
      patchkit report
      patchkit report --json > report.json

    A patch is due if the installed versions have its bug. Nothing is applied by this command, and
    it cannot see what a training has applied (print `patchkit.report()` in its script).
    `patchkit diff` shows each place in the installed files that would be changed, and those that
    are not as expected; `patchkit verify` shows each bug.

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
        show(Printed(current, current.legacy))
    sys.exit(1 if current.with_status(*TROUBLE) else 0)

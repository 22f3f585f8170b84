"""`patchkit report`."""

from __future__ import annotations

import sys

import click

from .arguments import PatchId, chosen_ids, patches_option
from .output import show


@click.command()
@click.argument("ids", nargs=-1, type=PatchId())
@patches_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def report(ids: tuple[str, ...], as_json: bool) -> None:
    """Report which patches are due here, which are not, and why.

    \b
    Examples:
      patchkit report
      patchkit report trl 'peft-merge-*'
      patchkit report --json > report.json

    IDS are patch ids, globs and libraries; all by default. A patch is due if the installed
    versions have its bug. Nothing is applied by this command, and it cannot see what a training
    has applied (print `patchkit.report()` in its script).
    `patchkit diff` shows each place in the installed files that would be changed, and those that
    are not as expected; `patchkit verify` shows each bug.

    \b
    Exit status:
      0  all is well
      1  a patch definition, an installed version or a variable cannot be read
    """
    import patchkit

    from ..engine.session import SESSION
    from ..reporting.report import Report
    from ..reporting.status import TROUBLE
    from ..reporting.text import PrintedReport

    chosen = chosen_ids(SESSION.catalogue, ids)
    current = patchkit.report()
    if chosen is not None:
        records = [record for record in current if record.id in chosen]
        current = Report(records, current.changed, current.legacy, current.refusals)
    if as_json:
        click.echo(current.to_json())
    else:
        show(PrintedReport(current, current.legacy, current.refusals))
    sys.exit(1 if current.refusals or current.with_status(*TROUBLE) else 0)

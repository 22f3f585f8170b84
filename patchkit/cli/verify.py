"""`patchkit verify`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UsageError
from .arguments import PatchId, check_writable, chosen_ids, patches_option
from .exit_statuses import exit_if_absent
from .output import show

if TYPE_CHECKING:
    from ..verification.verdicts import Verdict


@click.command()
@click.argument("ids", nargs=-1, type=PatchId())
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the JSON into this file, for a maintainer's record.",
)
@click.option(
    "--everywhere",
    is_flag=True,
    help="Also run the reproducers of patches that are not due, without the patch.",
)
@click.option(
    "--fork",
    is_flag=True,
    help="Run them in forks of one process that has imported the libraries: many times faster.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Number of reproducers that run at once.  [default: number of processors, 4 at most]",
)
@patches_option
def verify(
    ids: tuple[str, ...],
    as_json: bool,
    output: Path | None,
    everywhere: bool,
    fork: bool,
    jobs: int | None,
) -> None:
    """Show each bug that is due here without its patch, and its absence with it.

    A bug is due if the installed versions should have it. IDS are patch ids, globs and
    libraries; all by default. Each bug comes with a short program that reproduces it, which runs
    in processes of its own, on the installed libraries; nothing is applied here.

    \b
    Examples:
      patchkit verify
      patchkit verify 'trl-*' --fork
      patchkit verify my-patch --patches patches
    \b
    Exit status:
      0  all is well
      1  a due patch does not fix, or its reproducer fails for another reason
      2  a due bug does not show: it may be fixed upstream
      69 nothing was looked at: the libraries are not installed
    """
    from ..engine.session import SESSION
    from ..verification.text import as_table
    from ..verification.verification import verify as run

    def show_progress(verdict: Verdict) -> None:
        if (verdict.is_due or everywhere) and not verdict.was_not_run:
            click.echo(f"{verdict.outcome:<15} {verdict.id}", err=True)

    if output is not None:
        _make_ready(output)
    chosen = chosen_ids(SESSION.catalogue, ids)
    verification = run(chosen, everywhere=everywhere, fork=fork, jobs=jobs, progress=show_progress)
    text = json.dumps(verification.to_dict(), indent=2) if as_json or output else ""
    if output is not None:
        try:
            output.write_text(f"{text}\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {output}: {error.strerror}") from error
    if as_json:
        click.echo(text)
    if not verification.exit_status:
        exit_if_absent(SESSION.catalogue, chosen)
    if not as_json:
        show(as_table(verification))
    sys.exit(verification.exit_status)


def _make_ready(output: Path) -> None:
    """Make the folder of a file; refuse one that cannot be written, before anything is run.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--output {output}: {error.filename}: {error.strerror}") from error
    check_writable(output, "--output")

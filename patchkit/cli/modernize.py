"""`patchkit modernize`."""

from __future__ import annotations

import sys
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .arguments import ScriptPath
from .exit_statuses import USAGE
from .output import echo_coloured, show_json

if TYPE_CHECKING:
    from ..modernize.files import ScriptSource
    from ..modernize.findings import Modernized, ScriptFinding

SCHEMA = 1
_WITHOUT_NEW = {
    "changed": "nothing",
    "gone": "nothing",
    "remarked": "a person must decide",
    "silent": "as it is",
}
"""Outcome to the text that a line shows for an old spelling without a new one."""


@click.command(short_help="Rewrite old scripts for today's libraries.")
@click.argument("paths", nargs=-1, required=True, type=ScriptPath(), metavar="PATH…")
@click.option("--diff", is_flag=True, help="Show what would change: the default.")
@click.option("--write", is_flag=True, help="Change the files.")
@click.option("--check", is_flag=True, help="List what is old; exit with 1 if anything is.")
@click.option(
    "--to",
    metavar="VERSIONS",
    help="The releases to write for, as trl==1.16.0,transformers==5.23.0.  [default: what is "
    "installed]",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def modernize(
    paths: tuple[Path, ...], diff: bool, write: bool, check: bool, to: str | None, as_json: bool
) -> None:
    """Rewrite old scripts for today's TRL, Transformers, PEFT and Accelerate.

    PATHs are files and folders. Formatting and comments are kept. Where a person must decide,
    a remark `# patchkit: …` says so. Needs LibCST.

    \b
    Exit status:
      0   all is well
      1   of --check: something is old, or has no counterpart
      64  a path is wrong, and nothing was done; or a file could not be read
          or written, and the others are done
    \b
    Examples:
      patchkit modernize train.py
      patchkit modernize --write train.py recipes/
      patchkit modernize --check --to trl==1.16.0 .
    """
    from ..modernize.errors import ScriptError
    from ..modernize.files import load, modernized, replace, scripts
    from ..modernize.target import due_for

    form = _chosen_form(diff=diff, write=write, check=check)
    due = due_for(to)
    rows, failed, found = [], False, False
    for path in list(scripts(paths)):
        try:
            source = load(path)
            result = modernized(source, due)
            if form == "write" and result.text != source.text:
                replace(source, result.text)
        except ScriptError as error:
            click.echo(f"Error: {error}", err=True)
            failed = True
            continue
        found |= _matters(source, result)
        rows.append(_row(source, result))
        if not as_json:
            _show(source, result, form)
    if as_json:
        show_json({"schema": SCHEMA, "files": rows})
    sys.exit(USAGE if failed else 1 if form == "check" and found else 0)


def _chosen_form(**flags: bool) -> str:
    """Return the name of the flag that is set; `diff` for none."""
    chosen = [name for name, is_set in flags.items() if is_set] or ["diff"]
    if len(chosen) > 1:
        raise click.UsageError(f"--{chosen[0]} and --{chosen[1]} contradict each other")
    return chosen[0]


def _matters(source: ScriptSource, result: Modernized) -> bool:
    """Tell whether a script is old, beyond changes that only give other results."""
    from ..modernize.findings import ScriptOutcome

    return result.text != source.text or any(
        finding.outcome is not ScriptOutcome.SILENT for finding in result.findings
    )


def _row(source: ScriptSource, result: Modernized) -> dict[str, Any]:
    return {
        "file": str(source.path),
        "changed": result.text != source.text,
        "findings": [
            {**vars(finding), "outcome": finding.outcome.value} for finding in result.findings
        ],
        "text": result.text,
    }


def _show(source: ScriptSource, result: Modernized, form: str) -> None:
    if form == "diff":
        name = source.path.as_posix()
        before, after = source.text.splitlines(), result.text.splitlines()
        echo_coloured(unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm=""))
    elif form == "write" and result.text != source.text:
        click.echo(f"{source.path}: rewritten")
    for finding in result.findings:
        if form == "check" or finding.outcome.value != "changed":
            click.echo(_line(source, finding), err=form == "diff")


def _line(source: ScriptSource, finding: ScriptFinding) -> str:
    cell = f"cell {finding.cell}:" if finding.cell else ""
    new = finding.new or _WITHOUT_NEW[finding.outcome.value]
    return f"{source.path}:{cell}{finding.line}: {finding.old} -> {new} ({finding.because})"

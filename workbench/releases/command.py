"""`python -m workbench releases`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

SCHEMA = 1


@click.command()
@click.option(
    "--library",
    "libraries",
    multiple=True,
    help="Read only this library; may be repeated.  [default: all that the table speaks of]",
)
@click.option(
    "--last",
    type=click.IntRange(1),
    help="Read only so many releases of each library, the newest.  [default: all that the table "
    "reaches back to]",
)
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Take the wheels in this folder, and what is cached, in place of the package index.",
)
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep sources and what was read in this folder.  [default: PATCHKIT_CACHE, or patchkit "
    "among your caches]",
)
@click.option(
    "--history",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file which release has which names, modules and keywords, which "
    "`patchkit doctor` asks about scripts. With --from, releases that are not cached are left out.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def releases(
    libraries: tuple[str, ...],
    last: int | None,
    folder: Path | None,
    cache: Path | None,
    history: Path | None,
    as_json: bool,
) -> None:
    """Check the table of changed public interfaces against released wheels.

    Names, keywords and defaults are read release by release; nothing is imported. Releases are
    fetched with pip, with your configuration.

    \b
    Exit status:
      0  the table and the releases agree
      1  they do not: something went that the table does not know, a row has a wrong release, or
         the newest release lacks what a row leads to
      3  something could not be read, and all else is well
    \b
    Examples:
      python -m workbench releases --library trl
      python -m workbench releases --last 3
      python -m workbench releases --history patchkit/legacy/versions/history.json
    """
    from dataclasses import asdict

    from patchkit.cli.arguments import check_writable
    from patchkit.cli.output import show_json
    from patchkit.errors import UsageError
    from patchkit.matrix.file import replace_text

    from .run import scan as run

    if history and (libraries or last):
        raise UsageError("--history needs all libraries and releases: leave out --library, --last")
    if history:
        check_writable(history, "--history")
    result = run(
        libraries, last=last, folder=folder, cache=cache, with_timeline=history is not None
    )
    if history and not result.gaps:
        try:
            replace_text(history, json.dumps(result.timeline, indent=0) + "\n")
        except OSError as error:
            raise UsageError(f"cannot write {history}: {error.strerror}") from error
    if as_json:
        shown = {"schema": SCHEMA, **asdict(result)}
        shown.pop("timeline")
        show_json(shown)
    else:
        for library, versions in result.read.items():
            click.echo(f"{library} {versions[0]} to {versions[-1]}: {len(versions)} releases read")
        for finding in result.findings:
            text = f": {finding.text}" if finding.text else ""
            click.echo(f"{finding.kind}: {finding.what}, {finding.release}{text}")
        for what, reason in result.gaps.items():
            click.echo(f"not read: {what}: {reason}")
        if history and result.gaps:
            click.echo(f"{history} was not written: it would have gaps", err=True)
    sys.exit(1 if result.findings else 3 if result.gaps else 0)

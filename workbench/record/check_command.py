"""`python -m workbench check`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from patchkit.cli.arguments import PatchId


@click.command()
@click.argument("ids", nargs=-1, type=PatchId())
@click.option(
    "--file",
    "path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The matrix to read; that of this installation by default.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def check(ids: tuple[str, ...], path: Path | None, as_json: bool) -> None:
    """Compare what the patches claim with what was measured.

    IDS are patch ids or globs; all by default. A range must contain each release in which the bug
    was seen, and no other, and each release that it names must have been measured. What `patchkit
    matrix show` lists as to be looked into is found, too.

    \b
    Exit status:
      0  all patches claim what was measured, and nothing is to be looked into
      1  a patch claims more or less than that, or something is to be looked into
      64 the command cannot be carried out
    """
    from patchkit.engine.session import SESSION
    from patchkit.matrix.file import default_path, read
    from patchkit.matrix.show.selection import select

    from .checking import check as compare

    catalogue = SESSION.catalogue
    chosen = catalogue.matching_ids(ids, "IDS") if ids else set(catalogue.entries)
    matrix = read(path or default_path())
    checks = [compare(entry.patch, matrix) for entry in catalogue if entry.patch.id in chosen]
    wrong = [check for check in checks if not check.agrees]
    remarks = select(matrix, catalogue, ids).remarks
    if as_json:
        content = {
            "schema": 1,
            "patches": [check.to_dict() for check in checks],
            "to_be_looked_into": remarks,
        }
        click.echo(json.dumps(content, indent=2))
    else:
        for sentence in (sentence for check in wrong for sentence in check.contradictions):
            click.echo(sentence)
        for remark in remarks:
            click.echo(f"To be looked into: {remark}")
        unmeasured = sum(not check.measured for check in checks)
        click.echo(
            f"{len(checks)} patches: {len(checks) - len(wrong)} claim what was measured, "
            f"{len(wrong) - unmeasured} do not, and of {unmeasured} nothing was measured."
        )
    sys.exit(1 if wrong or remarks else 0)

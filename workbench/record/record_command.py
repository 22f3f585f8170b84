"""`python -m workbench record`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from .sets import VersionSet


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--id", "ids", multiple=True, help="Measure only these patches: an id or a glob.")
@click.option(
    "--file",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The matrix to write; that of this installation by default.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was measured as JSON.")
def record(files: tuple[Path, ...], ids: tuple[str, ...], path: Path | None, as_json: bool) -> None:
    """Merge measurements into the matrix.

    Older measurements stay, except those that were repeated. FILES were written by
    `patchkit verify --output`, in any environments. In the matrix of a checkout, version sets
    without any result are recorded as not measured. Without FILES, the patches are verified here
    and now.

    \b
    Examples:
      python -m workbench record .matrix/*.json
      python -m workbench record --id 'trl-*'
    """
    from patchkit.cli.arguments import check_writable
    from patchkit.cli.output import show_json
    from patchkit.engine.session import SESSION
    from patchkit.matrix.file import default_path, write
    from patchkit.verification.verification import verify

    from . import recording

    if files and ids:
        raise click.UsageError("--id says what to measure here; with FILES nothing is measured")
    SESSION.catalogue.matching_ids(ids, "--id")
    path = path or default_path()
    check_writable(path, "--file")
    old = recording.matrix_to_extend(path)
    if files:
        new = recording.from_files(files)
        if path == default_path():
            new = new.merge(recording.unmeasured_sets(old.merge(new), _sets()))
    else:
        new = recording.from_verdicts(
            verify(ids or None, everywhere=True).to_dict(), "the verification"
        )
    write(path, old.merge(new))
    if as_json:
        show_json(
            {
                "schema": 1,
                "results": [asdict(result) for result in new.results],
                "unmeasured": [asdict(unmeasured) for unmeasured in new.unmeasured],
            }
        )
    else:
        for line in recording.summary_lines(new):
            click.echo(line)


def _sets() -> list[VersionSet]:
    from patchkit.matrix.records import MatrixError

    from .sets import default_folder, read_sets

    try:
        return read_sets(default_folder())
    except MatrixError:  # not a checkout
        return []

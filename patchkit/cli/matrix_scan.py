"""`patchkit matrix scan`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click


@click.command()
@click.argument("ids", nargs=-1)
@click.option(
    "--library",
    "libraries",
    multiple=True,
    help="Scan only this distribution; may be given several times.  [default: those that the "
    "patches mend]",
)
@click.option(
    "--versions",
    default="",
    help="Scan the releases in this range, such as '>=0.24'; pre-releases only if it names one.  "
    "[default: from the first release that a patch claims to one after the last]",
)
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Scan what is in this folder instead of asking the package index: wheels, or an unpacked "
    "tree that holds the package's folder, such as site-packages or a checkout.",
)
@click.option("--newest", is_flag=True, help="Scan only the newest release of each library.")
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep sources and findings in this folder.  [default: PATCHKIT_CACHE, or patchkit among "
    "your caches]",
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="How many processes look.  [default: number of processors, 8 at most]",
)
@click.option(
    "--file",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The matrix to write; that of this installation by default. An unpacked tree is recorded "
    "only if this is given, since it may not be what was released.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def scan(
    ids: tuple[str, ...],
    libraries: tuple[str, ...],
    versions: str,
    folder: Path | None,
    newest: bool,
    cache: Path | None,
    jobs: int | None,
    path: Path | None,
    as_json: bool,
) -> None:
    """Look in released sources for what patches mend.

    What is found is recorded in the matrix. IDS are patch ids or globs; all by default. Only these
    are shown and decide the exit status; what is recorded of a release is always whole. Releases
    are fetched with pip, as you have set it up, and nothing of them is imported. A scan that was
    interrupted goes on where it was.

    \b
    Exit status:
      0  each patch matches where it is due, and no site stands anywhere else
      1  a patch drifted, or a site is where no patch claims it
      3  something could not be scanned, and all else is well
    \b
    Examples:
      patchkit matrix scan --library trl
      patchkit matrix scan --newest
      patchkit matrix scan --from dist/
    """
    from .. import matrix
    from ..catalogue.entries import load
    from ..matrix.scan import scan as run
    from ..matrix.scan.progress import progress_bar
    from ..matrix.scan.summary import as_tables, exit_status
    from .output import show

    file = path or matrix.default_path()
    before = matrix.read_or_empty(file)
    with progress_bar() as progress:
        scanned = run(
            ids or None,
            libraries=libraries,
            versions=versions,
            folder=folder,
            newest=newest,
            cache=cache,
            jobs=jobs,
            progress=progress,
        )
    if scanned.recordable or path is not None:
        matrix.write(file, before.merge(matrix.Matrix(scans=scanned.scans)))
    chosen = load().matching_ids(ids or None, "IDS")
    if as_json:
        content = {"scans": [vars(one) for one in scanned.scans], "gaps": scanned.gaps}
        click.echo(json.dumps(content, indent=2))
    else:
        show(as_tables(scanned, chosen))
    sys.exit(exit_status(scanned, chosen))

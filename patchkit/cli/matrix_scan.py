"""`patchkit matrix scan`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .arguments import PatchId, check_writable
from .output import progress_bar, show, show_json


@click.command()
@click.argument("ids", nargs=-1, type=PatchId())
@click.option(
    "--library",
    "libraries",
    multiple=True,
    help="Scan only this distribution; may be repeated.  [default: those that the patches fix]",
)
@click.option(
    "--versions",
    default="",
    help="Scan the releases in this range, such as '>=0.24'; pre-releases only if it names one.  "
    "[default: from the first release that these patches claim to one after the last]",
)
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Scan this folder instead of the package index: wheels, or an unpacked tree that contains "
    "the package's folder, such as site-packages or a checkout.",
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
    help="Number of worker processes.  [default: number of processors, 8 at most]",
)
@click.option(
    "--file",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The matrix to write; that of this installation by default. An unpacked tree is recorded "
    "only if this is given, since it may not be what was released.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
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
    """Look in released sources for the buggy code that patches fix.

    The result is recorded in the matrix. IDS are patch ids or globs; all by default. Other
    patches are not looked for then, and what the matrix says of them stays. Releases are fetched
    with pip, with your configuration, and never imported. An interrupted scan continues where it
    stopped.

    \b
    Exit status:
      0  each patch matches the releases it claims, and no others
      1  a patch drifted, or its buggy code is in a release that it does not claim
      3  something could not be scanned, and all else is well
    \b
    Examples:
      patchkit matrix scan --library trl
      patchkit matrix scan --newest
      patchkit matrix scan --from dist/
    """
    from ..catalogue.entries import load
    from ..matrix import file as matrix
    from ..matrix.records import Matrix
    from ..matrix.scan.run import scan as run
    from ..matrix.scan.summary import as_tables, exit_status

    if path is not None:
        check_writable(path, "--file")
    file = path or matrix.default_path()
    before = matrix.read_or_empty(file)
    try:
        with progress_bar("listing releases") as progress:
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
    except KeyboardInterrupt:
        raise KeyboardInterrupt("The same command goes on; what it read is kept.") from None
    if scanned.recordable or path is not None:
        scans = scanned.scans
        if ids:  # what the matrix says of other patches stays
            older = {scan.key: scan for scan in before.scans}
            scans = tuple(scan.added_to(older.get(scan.key, scan)) for scan in scans)
        matrix.write(file, before.merge(Matrix(scans=scans)))
    chosen = load().matching_ids(ids or None, "IDS")
    if as_json:
        show_json({"scans": [vars(scan) for scan in scanned.scans], "gaps": scanned.gaps})
    else:
        show(as_tables(scanned, chosen))
    sys.exit(exit_status(scanned, chosen))

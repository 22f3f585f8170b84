"""`python -m workbench behaviour`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("results", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--python",
    "pythons",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Run the programs with this interpreter first; may be repeated.",
)
@click.option(
    "--layer",
    default="",
    help="Run them with the legacy layer: True, or the releases that a script was written for.",
)
@click.option("--programs", default="*", help="Run only these; a glob, such as 'tokenizing.*'.")
@click.option("--open", "only_open", is_flag=True, help="Show only what is neither fixed nor told.")
@click.option(
    "--into",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Write the tables into this page.",
)
def behaviour(
    results: Path,
    pythons: tuple[Path, ...],
    layer: str,
    programs: str,
    only_open: bool,
    into: Path | None,
) -> None:
    """Compare what small programs observe in neighbouring releases.

    Types, shapes, keys, fill values, defaults, the order of calls: what changed without an error.
    RESULTS is a folder with one file for each environment; all that are there are compared, and
    those with the layer must be of the newest releases. `expected.toml` says of a difference where
    patchkit tells it, or why it need not.

    \b
    Examples:
      python -m workbench behaviour found --python old/bin/python --python new/bin/python
      python -m workbench behaviour found --python new/bin/python --layer True
      python -m workbench behaviour found --into docs/behaviour.md
    """
    from patchkit.errors import UsageError

    from ..sweep import pages
    from . import comparing, page, running

    for python in pythons:
        if not python.exists():
            raise UsageError(f"--python: there is no {python}")
    results.mkdir(exist_ok=True)
    for python in pythons:
        click.echo(running.run(python, results, layer, programs))
    plain, layered = comparing.sorted_runs(map(comparing.Run.read, sorted(results.glob("*.json"))))
    if len(plain) < 2:
        raise UsageError(
            f"{results} has results of {len(plain)} sets of releases; two can be compared"
        )
    rows = comparing.expected()
    found = [comparing.judged(change, plain, layered, rows) for change in comparing.changes(plain)]
    if into is not None:
        pages.write(page.tables(plain, layered, found), into, page.MARKS)
        return
    for line in page.lines(plain, layered, found, rows, only_open):
        click.echo(line)

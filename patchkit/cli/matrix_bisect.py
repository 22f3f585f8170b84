"""`patchkit matrix bisect`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..matrix.bisection.finding import Measurement

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("id", metavar="ID")
@click.option(
    "--sets",
    "folder",
    type=_FOLDER,
    help="The folder version_sets of a checkout; that of this one by default.",
)
@click.option(
    "--workdir",
    type=_FOLDER,
    envvar="TOX_WORK_DIR",
    show_envvar=True,
    help="Where tox keeps its environments.",
)
@click.option("--all", "every", is_flag=True, help="Measure every version set.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def bisect(id: str, folder: Path | None, workdir: Path | None, every: bool, as_json: bool) -> None:  # noqa: A002
    """Find the first and the last affected release.

    The reproducer of the patch is run on version sets, each in its tox environment, which is made
    where it is not there. What is affected is taken to be one range: both ends are measured, and
    its borders are bisected. A set that cannot tell is named, and another is asked.

    The results are left in .matrix/bisect/ID, for `patchkit matrix record`.

    \b
    Exit status:
      0  the patch claims what was measured
      1  it claims more or less, or no release shows the bug
      64 the command cannot be carried out
    """
    from ..matrix.bisection.over_sets import over_sets
    from ..matrix.sets import default_folder, read_sets
    from ..matrix.tox import find_tox
    from ..session import SESSION
    from ..wording import listed

    entries = SESSION.catalogue.entries
    named = sorted(SESSION.catalogue.named(id, "ID"))
    if len(named) > 1:
        raise click.UsageError(f"one patch is bisected at a time; {id} names {listed(named)}")
    (name,) = named
    folder = (folder or default_folder()).absolute()
    sets = read_sets(folder)
    tox = find_tox(folder.parent, workdir)
    results = tox.root / ".matrix" / "bisect" / name

    def said(one: Measurement) -> None:
        line = f"{entries[name].patch.library} {one.release:<10} {one.outcome:<14} "
        line += f"{one.version_set:<14} {one.seconds:5.0f} s"
        click.echo(line if one.shows is not None else f"{line}  {one.note}", err=as_json)

    found = over_sets(
        entries[name].patch,
        sets,
        lambda one: tox.measure(one, [name], results / f"{one.name}.json"),
        every=every,
        progress=said,
    )
    click.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found))
    sys.exit(0 if found.agrees else 1)

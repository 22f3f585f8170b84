"""`patchkit new`."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from ..output import show_json


@click.command()
@click.argument("id", metavar="ID")
@click.option(
    "--target",
    required=True,
    metavar="PKG.MOD:CLASS.METHOD",
    help="The function that has the bug; its library must be installed, and is not imported.",
)
@click.option("--line", type=click.IntRange(1), help="The line of its file that is wrong.")
@click.option("--find", metavar="CODE", help="The code in it that is wrong.")
@click.option("--wrap", is_flag=True, help="Wrap the function; by default its code is rewritten.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("patches"),
    show_default=True,
    help="Where the patch goes; its test goes into the folder tests there.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def new(
    id: str,  # noqa: A002
    target: str,
    line: int | None,
    find: str | None,
    wrap: bool,
    folder: Path,
    as_json: bool,
) -> None:
    """Begin a patch: its file and its test.

    ID is lower-case words joined by hyphens, the library first. The anchor is filled in from the
    installed source: the statement at --line (numbers are those of tracebacks), or the code given
    by --find, which may be a part of a statement. Without either the statements are listed.

    What is written fails until you have written the rest: what stands in the place of the site,
    and a reproducer. The test need not be edited. docs/writing-a-patch.md goes through all of it.

    \b
    Examples:
      patchkit new my-bug --target trl.trainer.utils:pad
      patchkit new my-bug --target trl.trainer.utils:pad --line 176
      patchkit new my-bug --target trl.trainer.utils:pad --find 'torch.full('
      patchkit new my-bug --target peft.peft_model:PeftModel.forward --wrap
    \b
    Exit status:
      0   the files were written
      64  they were not: the message says what is wrong
    """
    from ...text import shorten
    from .drafting import NoSiteChosen
    from .writing import begin

    try:
        draft = begin(id, target, line=line, find=find, wrap=wrap, folder=folder)
    except NoSiteChosen as error:
        if as_json:
            statements = [{"line": number, "code": code} for number, code in error.statements]
            show_json({"schema": 1, "statements": statements})
        else:
            room = shutil.get_terminal_size().columns - 8
            for number, code in error.statements:
                click.echo(f"{number:>6}  {shorten(code, room)}")
        raise
    if as_json:
        show_json(draft.to_dict())
    else:
        click.echo(draft)

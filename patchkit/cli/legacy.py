"""`patchkit legacy` and `patchkit legacy show`."""

from __future__ import annotations

import sys

import click

from .arguments import form_options
from .group import LazyGroup
from .output import show_json

SCHEMA = 1
COMMANDS = {"show": "legacy"}


@click.group(cls=LazyGroup, modules=COMMANDS)
def legacy() -> None:
    """Show the table of changed public interfaces.

    \b
    Example:
      patchkit legacy show tokenizer
    """


@click.command()
@click.argument("words", nargs=-1, metavar="[NAME]...")
@form_options("text", "markdown", "json")
def show(words: tuple[str, ...], form: str) -> None:
    """Show what has changed in public interfaces, and what to write today.

    A NAME is an old name or keyword, a class, or a part of either, in capital or small letters;
    all rows by default.

    \b
    Exit status:
      0  there is such a row
      1  there is none
    \b
    Examples:
      patchkit legacy show tokenizer
      patchkit legacy show SFTTrainer
      patchkit legacy show --format markdown
    """
    from ..legacy.explanation import described
    from ..legacy.rows import all_rows

    changes = [change for row in all_rows() if (change := described(row)) is not None]
    wanted = [word.lower() for word in words]
    chosen = [
        change
        for change in changes
        if not words or any(word in change.old.lower() for word in wanted)
    ]
    if form == "json":
        show_json({"schema": SCHEMA, "changes": [change.to_dict() for change in chosen]})
    elif form == "markdown":
        click.echo("| old | gone since | today |\n| --- | --- | --- |")
        for change in chosen:
            today = change.today.replace("|", "\\|")
            click.echo(f"| `{change.old}` | [{change.gone}]({change.source}) | {today} |")
    else:
        for change in chosen:
            click.echo(f"{change.old} has been gone since {change.gone}; {change.today}")
    if not chosen:
        click.echo(f"The table has no row with {' or '.join(words)}.", err=True)
    sys.exit(0 if chosen else 1)

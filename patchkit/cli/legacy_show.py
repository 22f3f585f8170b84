"""`patchkit legacy show`."""

from __future__ import annotations

import click


@click.command()
@click.argument("words", nargs=-1, metavar="[NAME]...")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "markdown", "json")),
    default="text",
    show_default=True,
)
def show(words: tuple[str, ...], form: str) -> None:
    """Show what has changed in public interfaces, and what to write today.

    A NAME is an old name or keyword, a class, or a part of either; all rows by default.

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
    import sys

    from ..legacy import table
    from ..legacy.explanation import described
    from .output import show_json

    rows = [it for row in table.rows() if (it := described(row)) is not None]
    chosen = [it for it in rows if not words or any(word in it.old for word in words)]
    if form == "json":
        show_json({"changes": [it.to_dict() for it in chosen]})
    elif form == "markdown":
        click.echo("| old | gone since | today |\n| --- | --- | --- |")
        for it in chosen:
            today = it.today.replace("|", "\\|")
            click.echo(f"| `{it.old}` | [{it.gone}]({it.source}) | {today} |")
    else:
        for it in chosen:
            click.echo(f"{it.old} has been gone since {it.gone}; {it.today}")
    sys.exit(0 if chosen else 1)

"""`python -m workbench messages`."""

from __future__ import annotations

import sysconfig
from collections import Counter, defaultdict
from pathlib import Path

import click

from patchkit.known.choosing import matches
from patchkit.known.reading import read
from patchkit.known.rows import all_rows

from .raised import RaisedMessage, messages
from .scope import LIBRARIES, is_asked_for, reason_left_out, subject

KINDS = "argument", "package-missing-for-option"
"""How the ids of rows begin that say no more of a message than its kind."""


@click.command()
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=sysconfig.get_path("purelib"),
    help="Read the libraries in this folder.  [default: the site-packages of this Python]",
)
@click.option("--missing", is_flag=True, help="Print the messages that are not known.")
@click.option("--kinds", is_flag=True, help="Print the messages of which only the kind is known.")
def count(folder: Path, missing: bool, kinds: bool) -> None:
    """Count the errors of the installed libraries that `explain` knows.

    Only messages of `raise` statements count that are about dtypes, quantization and arguments;
    what is left out is printed with its reason.
    """
    asked: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    left_out: Counter[str] = Counter()
    for library in LIBRARIES:
        for raised in dict.fromkeys(messages(folder, library)):
            if not is_asked_for(raised):
                continue
            if reason := reason_left_out(raised):
                left_out[reason] += 1
                continue
            how = known_by(raised)
            asked[subject(raised), library][how] += 1
            if (missing and how == "nothing") or (kinds and how == "kind"):
                click.echo(f"{raised.file}:{raised.function} {raised.type}: {raised.message}")
    click.echo(table(asked, left_out))


def known_by(raised: RaisedMessage) -> str:
    """Return by what a message is found: `row`, `kind` or `nothing`."""
    text = (
        "Traceback (most recent call last):\n"
        f'  File "/x/site-packages/{raised.file}", line 1, in {raised.function or "<module>"}\n'
        f"{raised.type}: {raised.example()}\n"
    )
    found = matches(read(text), all_rows(), lambda distribution: None)
    if not found:
        return "nothing"
    return "kind" if found[0].row.id.startswith(KINDS) else "row"


def table(asked: dict[tuple[str, str], Counter[str]], left_out: Counter[str]) -> str:
    """Return the counts as a table, and what is left out."""
    lines = [f"{'':40}{'asked':>7}{'by a row':>10}{'by kind':>9}{'found':>8}"]
    total: Counter[str] = Counter()
    for (about, library), counts in sorted(asked.items()):
        lines.append(_line(f"{about}, {library}", counts))
        total += counts
    lines.append(_line("all", total))
    lines += ["", "left out:"]
    lines += [f"{number:6} {reason}" for reason, number in left_out.most_common()]
    return "\n".join(lines)


def _line(name: str, counts: Counter[str]) -> str:
    asked = counts.total()
    share = (counts["row"] + counts["kind"]) / asked if asked else 1
    return f"{name:40}{asked:>7}{counts['row']:>10}{counts['kind']:>9}{share:>8.1%}"

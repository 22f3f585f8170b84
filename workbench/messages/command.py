"""`python -m workbench messages`."""

from __future__ import annotations

import json
import re
import sysconfig
from collections import Counter, defaultdict
from pathlib import Path

import click

from patchkit.known.answering import answered
from patchkit.known.raised import LETTERS, TABLE, as_table, digest, digests, files_by_digest
from patchkit.known.reading import read
from patchkit.known.rows import FOLDER
from patchkit.known.wordings import squeezed

from .raised import RaisedMessage, messages
from .scope import AROUND, LIBRARIES, is_asked_for, reason_left_out, reason_of_file, subject

KINDS = frozenset(
    written["id"] for written in json.loads((FOLDER / "99-checks.json").read_text(encoding="utf-8"))
)
"""Rows that say no more of a message than its kind."""
WITHOUT_TRACEBACK = (
    *("trl", "peft", "accelerate", "datasets", "huggingface_hub", "transformers", "bitsandbytes"),
    *("torch", *AROUND),
)
"""The libraries whose messages are known without a traceback; the first that has one counts."""
WHOLE = 6
"""So many of these are known with all of their files, the others with those that count."""


@click.command()
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=sysconfig.get_path("purelib"),
    help="Read the libraries in this folder.  [default: the site-packages of this Python]",
)
@click.option(
    "--library",
    "libraries",
    multiple=True,
    type=click.Choice((*LIBRARIES, *AROUND)),
    default=LIBRARIES,
    help="Count those of this one.  [default: the six that patches are for]",
)
@click.option("--bare", is_flag=True, help="Ask without the traceback's lines.")
@click.option("--missing", is_flag=True, help="Print the messages that are not known.")
@click.option("--kinds", is_flag=True, help="Print the messages of which only the kind is known.")
@click.option("--write", is_flag=True, help="Add where each is raised to the package's table.")
@click.option(
    "--unlike",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="With --write leave out what the libraries of other fields in this folder say, too.",
)
def count(
    folder: Path,
    libraries: tuple[str, ...],
    bare: bool,
    missing: bool,
    kinds: bool,
    write: bool,
    unlike: Path | None,
) -> None:
    """Count the errors of the installed libraries that `explain` knows.

    Only messages of `raise` statements count that are about dtypes, quantization and arguments;
    what is left out is printed with its reason.
    """
    if write:
        add_places(folder, TABLE, unlike)
        return
    asked: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    left_out: Counter[str] = Counter()
    for library in libraries:
        for raised in dict.fromkeys(messages(folder, library)):
            if not is_asked_for(raised):
                continue
            if reason := reason_left_out(raised):
                left_out[reason] += 1
                continue
            how = known_by(raised, bare)
            asked[subject(raised), library][how] += 1
            if (missing and how == "nothing") or (kinds and how == "kind"):
                click.echo(f"{raised.file}:{raised.function} {raised.type}: {raised.message}")
    click.echo(table(asked, left_out))


def add_places(folder: Path, table: Path, unlike: Path | None = None) -> None:
    """Add to a table in which file each message of the libraries is raised.

    Args:
        folder: that of installed libraries.
        table: what other releases have is in it already.
        unlike: a folder of libraries of other fields, whose messages it must not have.
    """
    written = json.loads(table.read_text(encoding="utf-8")) if table.exists() else {}
    others = {
        said
        for library in (sorted(unlike.iterdir()) if unlike else ())
        for raised in messages(library.parent, library.name)
        for part in _literals(raised)
        for said in digests(part)
    }
    places = files_by_digest(written)
    for number, name in enumerate(WITHOUT_TRACEBACK):
        for raised in messages(folder, name):
            part = max(_literals(raised), key=len)
            if len(part) >= LETTERS and (number < WHOLE or not reason_of_file(raised.file)):
                places.setdefault(digest(part), raised.file)
    kept = sorted((file, said) for said, file in places.items() if said not in others)
    files = as_table((said, file) for file, said in kept)
    table.write_text(json.dumps(files, indent=0) + "\n", encoding="utf-8")


def _literals(raised: RaisedMessage) -> list[str]:
    """Return the parts of a message between what is computed, without blanks."""
    return list(map(squeezed, re.split(r"\{[^{}]*\}", raised.message)))


def known_by(raised: RaisedMessage, bare: bool = False) -> str:
    """Return by what a message is found: `row`, `kind` or `nothing`.

    Args:
        raised: the message.
        bare: whether it is pasted without the lines of its traceback.
    """
    lines = (
        "Traceback (most recent call last):\n"
        f'  File "/x/site-packages/{raised.file}", line 1, in {raised.function or "<module>"}\n'
    )
    text = f"{'' if bare else lines}{raised.type}: {raised.example()}\n"
    found = answered(read(text), lambda distribution: None)
    if not found.answers or found.is_part:
        return "nothing"
    return "kind" if found.answers[0].id in KINDS else "row"


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

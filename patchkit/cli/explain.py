"""`patchkit explain`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .arguments import PatchId, patches_option
from .output import show, show_json

if TYPE_CHECKING:
    from ..catalogue.entries import Catalogue, Entry
    from ..known.answering import Found
    from ..known.pasted import Pasted
    from ..reporting.report import Report

SCHEMA = 1
_TAIL = 2_000_000
"""Bytes of a log that are read, from its end."""


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("ids", nargs=-1, required=True, type=PatchId(), metavar="ID...|ERROR|LOG|-")
@patches_option
@click.option("--json", "as_json", is_flag=True, help="Print the explanations as JSON.")
@click.option("--report", is_flag=True, help="Print a report of the error, to ask others with.")
def explain(ids: tuple[str, ...], as_json: bool, report: bool) -> None:
    """Explain an error, or the bug behind a patch, and what to do about it.

    \b
    Examples:
      patchkit explain "Attempting to unscale FP16 gradients."
      patchkit explain train.log
      python train.py 2>&1 | patchkit explain -
      patchkit explain trl-adapter-bf16-cast

    An ID may be a glob. The name of a file stands for what it contains, and - for standard input.
    Anything else is taken for an error message, part of one, or a text that contains one.

    \b
    Exit status:
      0  all is well
      1  nothing is known of this error message
    """
    import gc

    from ..known.reading import UnreadableText, read

    # What the tables hold stays to the end, and looking through it takes its time.
    gc.disable()
    click.get_current_context().call_on_close(gc.enable)
    if not any(word.strip() for word in ids):
        raise click.UsageError("the error message is empty")
    from ..engine.session import SESSION

    catalogue = SESSION.catalogue
    text = _error_text(ids, catalogue)
    if text is None:
        _explain_ids(ids, catalogue, as_json)
        return
    try:
        pasted = read(text)
    except UnreadableText as error:
        raise click.UsageError(str(error)) from error
    if report:
        _show_report(text)
    elif not _show_answers(pasted, catalogue, as_json):
        if text == " ".join(ids) and not any(word.split()[1:] for word in ids):
            _explain_ids(ids, catalogue, as_json)  # says which id is like it
            return
        if not (pasted.error.type or pasted.error.message):
            raise click.UsageError(
                "there is no error at the end of this text: paste its lines from Traceback on"
            )
        _show_unknown(pasted)
        sys.exit(1)


def _explain_ids(ids: tuple[str, ...], catalogue: Catalogue, as_json: bool) -> None:
    from ..engine.session import SESSION

    chosen = catalogue.matching_ids(ids, "ID")
    entries = [entry for entry in catalogue if entry.patch.id in chosen]
    _explain(entries, SESSION.report(), as_json)


def _show_answers(pasted: Pasted, catalogue: Catalogue, as_json: bool) -> bool:
    """Show what is known of an error; tell whether anything is."""
    from ..engine.session import SESSION
    from ..environment import installed_version
    from ..known.answering import answered, entries_with_message, entries_with_symptom
    from ..known.fitting import fitted
    from ..reporting.status import DUE

    found = answered(pasted, installed_version)
    raising = entries_with_message(pasted, catalogue)
    # A patch's own message tells more than a name beside it.
    if found.answers and not (raising and found.by_name):
        found = fitted(found, pasted, installed_version)
        _show_found(found, pasted, raising, catalogue, as_json)
        return True
    entries = entries_with_symptom(pasted, catalogue)
    if not entries:
        return False
    report = SESSION.report()
    entries.sort(key=lambda entry: report[entry.patch.id].status not in DUE)
    if len(entries) == 1 or as_json:
        _explain(entries, report, as_json)
    else:
        _list_matches(entries, report)
    return True


def _show_found(
    found: Found, pasted: Pasted, raising: list[Entry], catalogue: Catalogue, as_json: bool
) -> None:
    from ..engine.session import SESSION
    from ..known.wording import shown

    named = {name for answer in found.answers for name in answer.patches}
    others = [entry.patch.id for entry in raising if entry.patch.id not in named]
    known = named.union(others).intersection(catalogue.entries)
    report = SESSION.report() if known else ()
    statuses = {record.id: str(record.status) for record in report if record.id in known}
    if not as_json:
        due = [name for name in others if statuses[name] == "available"]
        click.echo("\n".join(shown(found, pasted, statuses, due)))
        return
    show_json(
        {
            "schema": SCHEMA,
            "error": {"type": found.error.type, "message": found.error.message},
            "is_part": found.is_part,
            "answers": [
                {
                    **answer.to_dict(),
                    "patches": [
                        {"id": name, "status": statuses.get(name, "")} for name in answer.patches
                    ],
                }
                for answer in found.answers
            ],
            "patches": _patches(raising, SESSION.report()) if raising else [],
        }
    )


def _show_unknown(pasted: Pasted) -> None:
    """Say what of the text was understood, and where to ask."""
    from ..known.asking import where_to_ask
    from ..known.wording import understood

    click.echo("Nothing here knows this error.", err=True)
    if said := understood(pasted):
        click.echo(f"  understood: {said}", err=True)
    place = where_to_ask(pasted) or "the library in the traceback's last file"
    click.echo(
        "  `patchkit doctor` checks this environment, `patchkit.preflight(trainer)` the\n"
        "  dtypes of a loaded model; `patchkit list` shows the bugs that raise nothing.\n"
        f"  Where to ask: {place}\n"
        "  `patchkit explain --report` with the same text prints a report to paste there.",
        err=True,
    )


def _show_report(text: str) -> None:
    from ..environment import installed_version, python_and_platform
    from ..known.asking import report
    from .doctor.privacy import without_private_data

    facts = python_and_platform()
    system = f"Python {facts['python']}, {facts['platform']}"
    click.echo(without_private_data(report(text, installed_version, system)), nl=False)


def _error_text(words: tuple[str, ...], catalogue: Catalogue) -> str | None:
    """Return the text to look up: the arguments, a file, or standard input; None for ids."""
    from fnmatch import filter as matching

    if words == ("-",):
        return _decoded(sys.stdin.buffer.read()[-_TAIL:])
    if any(matching(catalogue.entries, word) for word in words):
        return None
    if len(words) == 1 and (content := _content(words[0])) is not None:
        return content
    return " ".join(words)


def _content(name: str) -> str | None:
    """Return the end of a file; None if the text is not the name of one."""
    try:
        file = Path(name)
        if len(name) > 4096 or "\n" in name or not file.is_file():
            return None
    except (OSError, ValueError):
        return None
    with file.open("rb") as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(0, stream.tell() - _TAIL))
        return _decoded(stream.read())


def _decoded(content: bytes) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", errors="replace")  # as PowerShell writes logs
    return content.decode("utf-8", errors="replace")


def _explain(entries: Iterable[Entry], report: Report, as_json: bool) -> None:
    from ..catalogue.explanation import explain as in_words
    from ..reporting.explanation import WIDEST, PrintedExplanation

    if as_json:
        show_json({"schema": SCHEMA, "answers": [], "patches": _patches(entries, report)})
        return
    printed = (PrintedExplanation(in_words(entry), report[entry.patch.id]) for entry in entries)
    show(*printed, widest=WIDEST)


def _patches(entries: Iterable[Entry], report: Report) -> list[dict[str, Any]]:
    from ..catalogue.explanation import explain as in_words

    rows = []
    for entry in entries:
        record = report[entry.patch.id]
        rows.append(
            {
                **in_words(entry).to_dict(),
                "version": record.version,
                "status": record.status.value,
                "reason": record.reason,
                "tested": record.tested.to_dict(),
            }
        )
    return rows


def _list_matches(entries: list[Entry], report: Report) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from ..catalogue.explanation import explain as in_words
    from ..reporting.explanation import WIDEST

    shown: list[Text | Padding] = [
        Text(f"{len(entries)} patches know this error; those that are due here come first.")
    ]
    for patch in map(in_words, entries):
        status = str(report[patch.id].status).replace("available", "due")
        status += f" with apply({patch.opt_in}=True)" if patch.opt_in else ""
        shown.append(Text.assemble((f"\n{patch.id}", "bold"), f" ({status})"))
        shown.append(Padding(Text(patch.headline or patch.title), (0, 0, 0, 2)))
    shown.append(
        Text("\npatchkit explain ID says more; patchkit.apply() applies all that are due.")
    )
    show(*shown, widest=WIDEST)

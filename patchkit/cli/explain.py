"""`patchkit explain`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from .arguments import PatchId, patches_option

if TYPE_CHECKING:
    from ..catalogue.entries import Catalogue, Entry
    from ..reporting.report import Report

SCHEMA = 3


@click.command()
@click.argument("ids", nargs=-1, required=True, type=PatchId(), metavar="ID...|ERROR")
@patches_option
@click.option("--json", "as_json", is_flag=True, help="Print the explanations as JSON.")
def explain(ids: tuple[str, ...], as_json: bool) -> None:
    """Explain the bug behind a patch or an error, and what is done about it.

    \b
    Examples:
      patchkit explain trl-adapter-bf16-cast
      patchkit explain "Attempting to unscale FP16 gradients."
      patchkit explain "$(tail -n 30 train.log)"

    An ID may be a glob. Anything else is taken for an error message, part of one, or a text that
    contains one.

    \b
    Exit status:
      0  all is well
      1  neither a patch nor the table of old spellings knows this error message
    """
    from ..catalogue.pasted import cleaned
    from ..catalogue.symptoms import entries_with_message, entries_with_symptom
    from ..engine.session import SESSION
    from ..reporting.status import DUE

    if not any(word.strip() for word in ids):
        raise click.UsageError("the error message is empty")
    catalogue = SESSION.catalogue
    error = cleaned(_error_text(ids, catalogue))
    matches = entries_with_symptom(error, catalogue) if error else []
    mistyped = not matches and all(" " not in word for word in ids)
    if mistyped or not error:
        chosen = catalogue.matching_ids(ids, "ID")
        entries = [entry for entry in catalogue if entry.patch.id in chosen]
        _explain(entries, SESSION.report(), as_json)
        return
    # Symptoms are looser than the table: one may be a word that any log has.
    if not entries_with_message(error, catalogue) and _show_changes(error, as_json):
        return
    if not matches:
        click.echo(
            "No patch knows this error. `patchkit list` also shows the bugs that raise nothing; "
            "`patchkit doctor` checks this environment, and `patchkit.preflight(trainer)` the "
            "dtypes of a loaded model.",
            err=True,
        )
        sys.exit(1)
    report = SESSION.report()
    matches.sort(key=lambda entry: report[entry.patch.id].status not in DUE)
    if len(matches) == 1 or as_json:
        _explain(matches, report, as_json)
    else:
        _list_matches(matches, report)


def _show_changes(error: str, as_json: bool) -> bool:
    """Show the changes of public interfaces that an error speaks of; tell whether there are any."""
    from ..legacy.explanation import rows_of_error
    from ..legacy.rows import all_rows
    from .output import show_json

    found = rows_of_error(error, all_rows())
    if found and as_json:
        show_json({"schema": SCHEMA, "patches": [], "changes": [it.to_dict() for it in found]})
    elif found:
        for change in found:
            click.echo(f"{change.old} has been gone since {change.gone}; {change.today}")
            click.echo(f"  {change.source}")
        click.echo("patchkit run --legacy -- python SCRIPT runs the script as it is.")
    return bool(found)


def _error_text(words: tuple[str, ...], catalogue: Catalogue) -> str:
    """Return the arguments as one text, or an empty one if any of them is an id."""
    from fnmatch import filter as matching

    if any(matching(catalogue.entries, word) for word in words):
        return ""
    return " ".join(words)


def _explain(entries: Iterable[Entry], report: Report, as_json: bool) -> None:
    from ..catalogue.explanation import explain as in_words
    from ..reporting.explanation import WIDEST, Printed
    from .output import show, show_json

    pairs = [(in_words(entry), report[entry.patch.id]) for entry in entries]
    if not as_json:
        show(*(Printed(*pair) for pair in pairs), widest=WIDEST)
        return
    patches: list[dict[str, Any]] = [
        {
            **explanation.to_dict(),
            "version": record.version,
            "status": record.status.value,
            "reason": record.reason,
            "tested": record.tested.to_dict(),
        }
        for explanation, record in pairs
    ]
    show_json({"schema": SCHEMA, "patches": patches})


def _list_matches(entries: list[Entry], report: Report) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from ..catalogue.explanation import explain as in_words
    from ..reporting.explanation import WIDEST
    from .output import show

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

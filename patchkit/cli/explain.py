"""`patchkit explain`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from .patch_id import PatchId
from .patches_option import patches_option

if TYPE_CHECKING:
    from ..catalogue.entries import Catalogue, Entry
    from ..reporting.report import Report

SCHEMA = 2


@click.command()
@click.argument("ids", nargs=-1, required=True, type=PatchId(), metavar="ID...|ERROR")
@patches_option
@click.option("--json", "as_json", is_flag=True, help="Print the explanations as JSON.")
def explain(ids: tuple[str, ...], as_json: bool) -> None:
    """The bug behind a patch or an error, and what is done about it.

    \b
    Examples:
      patchkit explain trl-adapter-bf16-cast
      patchkit explain "Attempting to unscale FP16 gradients."
      patchkit explain "$(tail -n 30 train.log)"

    An ID may be a glob. What is no ID is taken for an error message, a part of one, or a text with
    one in it.

    \b
    Exit status:
      0  all is well
      1  no patch knows this error message
    """
    from ..catalogue.symptoms import entries_with_symptom
    from ..engine.session import SESSION
    from ..reporting.status import DUE

    catalogue = SESSION.catalogue
    error = _error_text(ids, catalogue)
    found = entries_with_symptom(error, catalogue) if error else []
    mistyped = not found and all(" " not in one for one in ids)
    if mistyped or not error:
        chosen = catalogue.matching_ids(ids, "ID")
        _explain([one for one in catalogue if one.patch.id in chosen], SESSION.report(), as_json)
        return
    if not found:
        click.echo(
            "No patch knows this error. `patchkit list` has the bugs that raise nothing, too; "
            "`patchkit doctor` looks at this environment, and `patchkit.preflight(trainer)` at "
            "the dtypes of a model that is loaded.",
            err=True,
        )
        sys.exit(1)
    report = SESSION.report()
    found.sort(key=lambda entry: report[entry.patch.id].status not in DUE)
    if len(found) == 1 or as_json:
        _explain(found, report, as_json)
    else:
        _enumerate(found, report)


def _error_text(words: tuple[str, ...], catalogue: Catalogue) -> str:
    """The arguments as one text, where none of them is an id."""
    from fnmatch import filter as matching

    if any(matching(catalogue.entries, one) for one in words):
        return ""
    return " ".join(words)


def _explain(entries: Iterable[Entry], report: Report, as_json: bool) -> None:
    from ..catalogue.explanation import explain as in_words
    from ..reporting.explanation import WIDEST, as_table
    from .output import show, show_json

    pairs = [(in_words(one), report[one.patch.id]) for one in entries]
    if not as_json:
        show(*(as_table(*pair) for pair in pairs), widest=WIDEST)
        return
    patches: list[dict[str, Any]] = [
        {
            **one.to_dict(),
            "version": here.version,
            "status": here.status.value,
            "reason": here.reason,
            "tested": here.tested.to_dict(),
        }
        for one, here in pairs
    ]
    show_json({"schema": SCHEMA, "patches": patches})


def _enumerate(entries: list[Entry], report: Report) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from ..catalogue.explanation import explain as in_words
    from ..reporting.explanation import WIDEST
    from .output import show

    shown: list[Text | Padding] = [
        Text(f"{len(entries)} patches know this error; those that are due here come first.")
    ]
    for one in map(in_words, entries):
        status = str(report[one.id].status).replace("available", "due")
        status += f" with apply({one.opt_in}=True)" if one.opt_in else ""
        shown.append(Text.assemble((f"\n{one.id}", "bold"), f" ({status})"))
        shown.append(Padding(Text(one.headline or one.title), (0, 0, 0, 2)))
    shown.append(
        Text("\npatchkit explain ID says more; patchkit.apply() applies all that are due.")
    )
    show(*shown, widest=WIDEST)

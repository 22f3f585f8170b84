"""`patchkit diff`."""

from __future__ import annotations

import re
import shutil
import sys
from typing import TYPE_CHECKING

import click

from ..text import short_list, wrap_lines
from .arguments import PatchId, chosen_ids, patches_option
from .exit_statuses import exit_if_absent
from .output import echo_coloured, is_terminal, show_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..catalogue.entries import Entry
    from ..matrix.preview import Preview

SCHEMA = 1
_HELPER = re.compile(r"__import__\('([\w.]+)', fromlist=\('(\w+)',\)\)\.\2\b")
"""A function that an edit fetches, as `patchkit.rewrite.helper` writes it."""
_HEADERS = ("+++ ", "--- ", "@@ ")
_NARROWEST = 30


@click.command(short_help="Show what the patches change, as a unified diff.")
@click.argument("ids", nargs=-1, type=PatchId())
@patches_option
@click.option("--json", "as_json", is_flag=True, help="Print the diffs as JSON.")
def diff(ids: tuple[str, ...], as_json: bool) -> None:
    """Show what the patches change in the installed files, as a unified diff.

    \b
    Examples:
      patchkit diff
      patchkit diff trl-adapter-bf16-cast
      patchkit diff 'peft-*' > peft.diff

    IDS are patch ids, globs and libraries; by default all patches that are due, which means that
    the installed versions have the bug. Nothing is imported or changed. For a wrapped function, a
    line names the function and its wrapper. For a target with wildcards, the first few files are
    shown. `# drift` marks code that is not as expected and would be left alone.

    On a terminal, what a patch does comes first, and lines are folded. In a pipe or a file the
    text is what `patch -p0` reads.

    \b
    Exit status:
      0  all is well
      1  something is not as expected: it would drift
      69 nothing was looked at: the libraries are not installed
    """
    from ..catalogue.resolution import resolve
    from ..engine.session import SESSION
    from ..environment import cached_lookups
    from ..errors import UnreadableVersion
    from ..matrix.lookup import reason_not_due

    catalogue = SESSION.catalogue
    chosen = chosen_ids(catalogue, ids)
    rows = []
    drift = False
    unreadable: dict[str, list[str]] = {}
    with cached_lookups():
        for entry in catalogue:
            if chosen is not None and entry.patch.id not in chosen:
                continue
            try:
                resolution = resolve(entry.patch)
            except ValueError as error:
                advice = f"; {error.advice}" if isinstance(error, UnreadableVersion) else ""
                unreadable.setdefault(f"{error}{advice}", []).append(entry.patch.id)
                continue
            if resolution.verdict is not None:
                if ids:
                    reason = reason_not_due(entry.patch, resolution)
                    click.echo(f"{entry.patch.id} is not due: {reason}", err=True)
                continue
            preview, problems = _preview(entry)
            drift |= bool(problems)
            text = str(preview or "")
            rows.append({"id": entry.patch.id, "drift": problems, "diff": text})
            if not as_json:
                _show(entry, text or "".join(f"# drift: {problem}\n" for problem in problems))
    for problem, concerned in unreadable.items():
        click.echo(f"{short_list(concerned)}: {problem}", err=True)
    if as_json:
        show_json({"schema": SCHEMA, "diffs": rows})
    if drift or unreadable:
        sys.exit(1)
    exit_if_absent(catalogue, chosen)
    if not rows and not ids:
        click.echo("No patch is due here: the installed versions have none of the bugs.", err=True)


def _preview(entry: Entry) -> tuple[Preview | None, list[str]]:
    """Return what would be changed, and what is not as expected."""
    from ..matrix.preview import preview as make_preview

    try:
        preview = make_preview(entry.patch)
    except Exception as error:  # from the rule of a patch, or an unreadable file
        return None, [f"no diff can be made: {type(error).__name__}: {error}"]
    return preview, list(preview.drift)


def _show(entry: Entry, text: str) -> None:
    lines: Iterable[str] = [f"# {entry.patch.id}: {entry.patch.title}", *text.split("\n")[:-1]]
    if is_terminal():
        lines = _folded(entry, text, shutil.get_terminal_size().columns)
    echo_coloured(lines)


def _folded(entry: Entry, text: str, width: int) -> Iterator[str]:
    """Yield the lines for one patch; `patch` cannot read them."""
    from ..catalogue.explanation import explain

    width = max(width, _NARROWEST)
    patch = explain(entry)
    yield from wrap_lines(f"{patch.id}: {patch.title}", "# ", "# ", width)
    for paragraph in filter(None, patch.fix.split("\n\n")):
        sentence = paragraph[:1].upper() + paragraph[1:]
        yield from wrap_lines(sentence, "#   ", "#   ", width)
    for module, name in dict.fromkeys(_HELPER.findall(text)):
        yield from wrap_lines(f"{name}() is `{module}.{name}`", "#   ", "#   ", width)
    for line in _HELPER.sub(r"\2", text).split("\n")[:-1]:
        yield from _folded_line(line, width)


def _folded_line(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    if line.startswith("#"):
        return wrap_lines(line[1:], "# ", "#   ", width)
    if line.startswith(_HEADERS):
        return [line]
    sign, code = line[:1], line[1:].lstrip()
    indent = " " * min(len(line) - len(code) - 1, width // 2)
    return wrap_lines(code, f"{sign}{indent}", f"{sign}{indent}    ", width)

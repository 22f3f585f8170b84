"""A report as HTML for a notebook, readable on a dark page as on a light one."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from ..environment import cached_lookups
from ..patch import Status
from ..text import plural
from . import advice
from .record import PatchRecord
from .status import CONCERNED, ROWS, TROUBLE, rank

_GREEN = "background:rgba(46,160,67,.22)"
_RED = "background:rgba(248,81,73,.22)"
_YELLOW = "background:rgba(210,153,34,.25)"
_BLUE = "background:rgba(56,139,253,.18)"
# Backgrounds that let the page shine through, and no text colours: those are the page's own.
_TINTS = {"green": _GREEN, "red": _RED, "yellow": _YELLOW, "blue": _BLUE, "": ""}
_LEFT = "text-align:left;vertical-align:top"
"""Notebooks centre or right-align cells of their own accord."""
_CODE = "font-family:monospace;white-space:pre-wrap;overflow-wrap:anywhere"
_LINE_STYLES = {"+": _GREEN, "-": _RED, "@": _BLUE, "#": _YELLOW}


@cached_lookups()
def as_html(report: Sequence[PatchRecord]) -> str:
    """How it stands, a row for each patch that is due, trouble first, and the others folded."""
    from ..about import __version__

    records = sorted(report, key=lambda record: rank(record.status))
    due = list(filter(_is_due, records))
    rest = [one for one in records if not _is_due(one)]
    heading = html.escape(f"patchkit {__version__}: {advice.standing(report)}")
    more = _details(f"{len(rest)} not due here", _table(rest)) if rest else ""
    return f"<div><b>{heading}</b>{_table(due)}{more}</div>"


def _is_due(one: PatchRecord) -> bool:
    return one.status in CONCERNED and not advice.is_unasked(one)


def _table(records: Iterable[PatchRecord]) -> str:
    titles = ("status", "patch", "library", "what and why")
    head = f"<tr>{''.join(f'<th style={_LEFT!r}>{one}</th>' for one in titles)}</tr>"
    return f'<table style="{_LEFT}">{head}{"".join(map(_row, records))}</table>'


def _row(one: PatchRecord) -> str:
    style = _TINTS[ROWS[one.status].tint]
    library = html.escape(f"{one.library} {one.version or ''}")
    status = f'<td style="{_LEFT};{style}">{one.status.value}</td>'
    names = "".join(f'<td style="{_LEFT}">{name}</td>' for name in (html.escape(one.id), library))
    return f"<tr>{status}{names}{_what(one)}</tr>"


def _what(one: PatchRecord) -> str:
    against = f"untested: {one.tested}" if advice.doubtful([one]) else ""
    todo = one.advice if one.status in TROUBLE else ""
    lines = [one.title, one.reason, against, todo and f"→ {todo}"]
    text = "<br>".join(html.escape(line) for line in lines if line)
    changed = [str(target.target) for target in one.targets if target.status is Status.APPLIED]
    functions = "<br>".join(map(html.escape, changed))
    if functions:
        text += _details(plural(len(changed), "function"), functions)
    # What a patch would do takes seconds to find out, and a cell may end with `patchkit.apply()`.
    diff = one.diff_made()
    if diff:
        lines_of_diff = "".join(map(_line, diff.splitlines(keepends=True)))
        text += _details("diff", f'<pre style="{_CODE}">{lines_of_diff}</pre>')
    return f'<td style="{_LEFT};overflow-wrap:anywhere">{text}</td>'


def _line(line: str) -> str:
    header = line.startswith(("+++ ", "--- "))
    style = "font-weight:bold" if header else _LINE_STYLES.get(line[:1], "")
    escaped = html.escape(line)
    return f'<span style="{style}">{escaped}</span>' if style else escaped


def _details(summary: str, content: str) -> str:
    return f"<details><summary>{html.escape(summary)}</summary>{content}</details>"

"""A report as HTML for a notebook, readable on a dark page and on a light one."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from ..environment import cached_lookups
from ..patch import Status
from ..text import plural
from . import advice
from .legacy import LegacyReport
from .record import CORRECT_THE_ENVIRONMENT, PatchRecord
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
def as_html(
    report: Sequence[PatchRecord], legacy: LegacyReport | None = None, refusals: Sequence[str] = ()
) -> str:
    """Return the summary, a row for each due patch, trouble first, and the rest folded away."""
    from ..about import __version__

    records = sorted(report, key=lambda record: rank(record.status))
    due = list(filter(_is_due, records))
    rest = [record for record in records if not _is_due(record)]
    heading = html.escape(f"patchkit {__version__}: {advice.summary_line(report)}")
    more = _details(f"{len(rest)} not due here", _table(rest)) if rest else ""
    old = _legacy_list(legacy) if legacy is not None else ""
    refused = "".join(
        f"<br>{html.escape(f'{text} → {CORRECT_THE_ENVIRONMENT}')}" for text in refusals
    )
    return f"<div><b>{heading}</b>{refused}{_table(due)}{more}{old}</div>"


def _legacy_list(legacy: LegacyReport) -> str:
    items = "".join(f"<li>{html.escape(line)}</li>" for line in legacy.lines())
    return f"<b>{html.escape(legacy.heading())}</b><ul>{items}</ul>"


def _is_due(record: PatchRecord) -> bool:
    return record.status in CONCERNED and not advice.is_opt_in(record)


def _table(records: Iterable[PatchRecord]) -> str:
    titles = ("status", "patch", "library", "what and why")
    head = f"<tr>{''.join(f'<th style={_LEFT!r}>{title}</th>' for title in titles)}</tr>"
    return f'<table style="{_LEFT}">{head}{"".join(map(_row, records))}</table>'


def _row(record: PatchRecord) -> str:
    style = _TINTS[ROWS[record.status].tint]
    library = html.escape(f"{record.library} {record.version or ''}")
    status = f'<td style="{_LEFT};{style}">{record.status.value}</td>'
    cells = (html.escape(record.id), library)
    names = "".join(f'<td style="{_LEFT}">{cell}</td>' for cell in cells)
    return f"<tr>{status}{names}{_details_cell(record)}</tr>"


def _details_cell(record: PatchRecord) -> str:
    doubt = f"untested: {record.tested}" if advice.doubts([record]) else ""
    todo = record.advice if record.status in TROUBLE else ""
    lines = [record.title, record.reason, doubt, todo and f"→ {todo}"]
    text = "<br>".join(html.escape(line) for line in lines if line)
    changed = [str(target.target) for target in record.targets if target.status is Status.APPLIED]
    if changed:
        functions = "<br>".join(map(html.escape, changed))
        text += _details(plural(len(changed), "function"), functions)
    # A diff of what a patch would do takes seconds, and a cell may end with `patchkit.apply()`.
    if diff := record.diff_made():
        diff_lines = "".join(map(_diff_line, diff.splitlines(keepends=True)))
        text += _details("diff", f'<pre style="{_CODE}">{diff_lines}</pre>')
    return f'<td style="{_LEFT};overflow-wrap:anywhere">{text}</td>'


def _diff_line(line: str) -> str:
    header = line.startswith(("+++ ", "--- "))
    style = "font-weight:bold" if header else _LINE_STYLES.get(line[:1], "")
    escaped = html.escape(line)
    return f'<span style="{style}">{escaped}</span>' if style else escaped


def _details(summary: str, content: str) -> str:
    return f"<details><summary>{html.escape(summary)}</summary>{content}</details>"

"""Render findings as text for a terminal, log or error message, and as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any

from ..text import wrap_lines

WIDTH = 88


def as_text(summary: str, looked_at: str, findings: Iterable[str]) -> str:
    """Return a heading, then a paragraph for each finding.

    Lines of code in a `change` are not folded, so that they can be copied.
    """
    heading = f"patchkit preflight: {summary}"
    seen = _fold(f"looked at {looked_at}", "") if looked_at else ""
    return "\n\n".join(["\n".join(filter(None, [heading, seen])), *findings])


def finding_as_text(finding: Mapping[str, Any]) -> str:
    """Return a paragraph for the dictionary of a finding."""
    title = "fixed" if finding["fixed"] else finding["severity"]
    lines = [
        f"{title}: {finding['id']}",
        _fold(finding["found"], "  found:  "),
        _fold(finding["why"], "  why:    "),
    ]
    if finding["fixed"]:
        lines.append(_fold(finding["fixed"], "  done:   "))
    else:
        lines.append(_indent(finding["change"], "  change: "))
        if finding["fixable"]:
            lines.append("          or let patchkit do it: patchkit.preflight(…, fix=True)")
    return "\n".join(lines)


def as_html(summary: str, findings: Iterable[Mapping[str, Any]]) -> str:
    """Return a table of findings' dictionaries; a change is shown as code."""
    rows = []
    for finding in findings:
        done = html.escape(finding["fixed"])
        fix = f"fixed: {done}" if done else f"<pre>{html.escape(finding['change'])}</pre>"
        if finding["fixable"] and not done:
            fix += "or <code>patchkit.preflight(…, fix=True)</code>"
        texts = [html.escape(finding[name]) for name in ("id", "found", "why")]
        cells = ["fixed" if done else finding["severity"], *texts, fix]
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    head = "".join(f"<th>{name}</th>" for name in ("severity", "id", "found", "why", "change"))
    caption = html.escape(f"patchkit preflight: {summary}")
    return f"<table><caption>{caption}</caption><tr>{head}</tr>{''.join(rows)}</table>"


def _fold(text: str, label: str) -> str:
    return "\n".join(wrap_lines(text, label, " " * len(label), WIDTH, break_long_words=False))


def _indent(text: str, label: str) -> str:
    return label + text.replace("\n", "\n" + " " * len(label))

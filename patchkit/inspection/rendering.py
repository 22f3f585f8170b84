"""Findings as text for a terminal, a log or an error message, and as HTML for a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ..wording import folded

if TYPE_CHECKING:
    from .findings import Finding, Findings

WIDTH = 88


def as_text(findings: Findings) -> str:
    """A heading, then a paragraph for each finding.

    Lines of code in a `change` are not folded, so that they can be copied.
    """
    heading = f"patchkit preflight: {findings.summary()}"
    seen = _folded(f"looked at {findings.looked_at}", "") if findings.looked_at else ""
    return "\n\n".join(["\n".join(filter(None, [heading, seen])), *map(str, findings)])


def finding_as_text(one: Finding) -> str:
    title = f"fixed: {one.id}" if one.fixed else f"{one.severity}: {one.id}"
    lines = [
        title,
        _folded(one.found, "  found:  "),
        _folded(one.why, "  why:    "),
    ]
    if one.fixed:
        lines.append(_folded(one.fixed, "  done:   "))
    else:
        lines.append(_unfolded(one.change, "  change: "))
        if one.fixable:
            lines.append("          or let patchkit do it: patchkit.preflight(…, fix=True)")
    return "\n".join(lines)


def as_html(findings: Findings) -> str:
    """A table; a change stands in it as code."""
    rows = []
    for one in findings:
        what = html.escape(one.found)
        why = html.escape(one.why)
        done = html.escape(one.fixed)
        mend = f"fixed: {done}" if done else f"<pre>{html.escape(one.change)}</pre>"
        if one.fixable and not done:
            mend += "or <code>patchkit.preflight(…, fix=True)</code>"
        rows.append(
            f"<tr><td>{'fixed' if done else one.severity.value}</td><td>{html.escape(one.id)}</td>"
            f"<td>{what}</td><td>{why}</td><td>{mend}</td></tr>"
        )
    head = "".join(f"<th>{name}</th>" for name in ("severity", "id", "found", "why", "change"))
    caption = html.escape(f"patchkit preflight: {findings.summary()}")
    return f"<table><caption>{caption}</caption><tr>{head}</tr>{''.join(rows)}</table>"


def _folded(text: str, label: str) -> str:
    return "\n".join(folded(text, label, " " * len(label), WIDTH, break_long_words=False))


def _unfolded(text: str, label: str) -> str:
    return label + text.replace("\n", "\n" + " " * len(label))

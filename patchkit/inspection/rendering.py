"""Render findings as text for a terminal, log or error message, and as HTML."""

from __future__ import annotations

import html
import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .findings import Finding, Findings

WIDTH = 88
_SPACE = "\0"


def as_text(findings: Findings) -> str:
    """Return a heading, then a paragraph per finding.

    Lines of code in a `change` are not folded, so that they can be copied.
    """
    heading = f"patchkit preflight: {findings.summary()}"
    seen = _fold(f"looked at {findings.looked_at}", "") if findings.looked_at else ""
    return "\n\n".join(["\n".join(filter(None, [heading, seen])), *map(str, findings)])


def finding_as_text(finding: Finding) -> str:
    title = f"fixed: {finding.id}" if finding.fixed else f"{finding.severity}: {finding.id}"
    lines = [
        title,
        _fold(finding.found, "  found:  "),
        _fold(finding.why, "  why:    "),
    ]
    if finding.fixed:
        lines.append(_fold(finding.fixed, "  done:   "))
    else:
        lines.append(_indent(finding.change, "  change: "))
        if finding.fixable:
            lines.append("          or let patchkit do it: patchkit.preflight(…, fix=True)")
    return "\n".join(lines)


def as_html(findings: Findings) -> str:
    """Return a table, with changes as code."""
    rows = []
    for finding in findings:
        problem = html.escape(finding.found)
        why = html.escape(finding.why)
        repair = html.escape(finding.fixed)
        mend = f"fixed: {repair}" if repair else f"<pre>{html.escape(finding.change)}</pre>"
        if finding.fixable and not repair:
            mend += "or <code>patchkit.preflight(…, fix=True)</code>"
        rows.append(
            f"<tr><td>{'fixed' if repair else finding.severity.value}</td>"
            f"<td>{html.escape(finding.id)}</td><td>{problem}</td><td>{why}</td><td>{mend}</td></tr>"
        )
    head = "".join(f"<th>{name}</th>" for name in ("severity", "id", "found", "why", "change"))
    caption = html.escape(f"patchkit preflight: {findings.summary()}")
    return f"<table><caption>{caption}</caption><tr>{head}</tr>{''.join(rows)}</table>"


def _fold(text: str, label: str) -> str:
    """Fold between words; text in backticks stays whole, so that it can be searched."""
    whole = re.sub("`[^`]*`", lambda match: match[0].replace(" ", _SPACE), text)
    filled = textwrap.fill(
        whole,
        WIDTH,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace(_SPACE, " ")


def _indent(text: str, label: str) -> str:
    return label + text.replace("\n", "\n" + " " * len(label))

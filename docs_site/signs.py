"""Mark the signs in tables of results, so that the style sheet can colour their cells."""

from __future__ import annotations

import re

NAMES = {"=": "same", "~": "explained", "+": "fixed", "x": "fails", "!": "worse", "?": "worse"}
"""Signs in cells, with the names that their colours have in the style sheet."""
_CELL = re.compile(r"<td([^>]*)>(<code>([=~+x!?])</code>)</td>")


def marked(content: str) -> str:
    """Return the HTML of a page with a class for each cell that has a sign and nothing else."""
    return _CELL.sub(
        lambda cell: f'<td{cell[1]} class="sign {NAMES[cell[3]]}">{cell[2]}</td>', content
    )

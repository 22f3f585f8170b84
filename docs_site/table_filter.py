"""Mark where the site has a box that filters the tables below it."""

from __future__ import annotations

import html


def box(label: str) -> str:
    """Return the place of a box; the script fills it, so it is empty without JavaScript."""
    return f'<div class="filter" data-filter="{html.escape(label)}"></div>\n'


def before_first_section(text: str, label: str) -> str:
    """Put a box before the first heading below the title.

    Raises:
        ValueError: there is no heading.
    """
    introduction, heading, rest = text.partition("\n## ")
    if not heading:
        raise ValueError("a filter stands before the first section, and the page has none")
    return f"{introduction}\n{box(label)}{heading}{rest}"

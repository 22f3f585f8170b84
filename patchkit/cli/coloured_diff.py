"""Print a unified diff in colours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from .output import colour_choice

_STYLES: dict[str, dict[str, Any]] = {
    "+++": {"bold": True},
    "---": {"bold": True},
    "+": {"fg": "green"},
    "-": {"fg": "red"},
    "@": {"fg": "cyan"},
    "#": {"fg": "yellow"},
}
"""By how a line begins."""


def echo_coloured(lines: Iterable[str]) -> None:
    """Print the lines of a diff, and of remarks that begin with `#`."""
    for line in lines:
        style = _STYLES.get(line[:3].strip()) or _STYLES.get(line[:1]) or {}
        click.echo(click.style(line, **style), color=colour_choice())

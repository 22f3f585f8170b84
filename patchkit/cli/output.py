"""What commands print: as wide as the terminal, coloured on one only, and safe to pipe."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

_BLANKS_AT_THE_END = re.compile(r"[ \t]+(?=(\x1b\[[0-9;]*m)*$)", re.MULTILINE)


def show(*printed: RenderableType, widest: int | None = None) -> None:
    """Print something for a rich console.

    Args:
        printed: one thing after the other.
        widest: columns to use at most; all that the terminal has by default.
    """
    from rich.console import Console

    console = Console(highlight=False)
    width = min(console.width, widest) if widest else console.width
    # Captured, since rich has its own idea of what to do about a closed pipe.
    with console.capture() as captured:
        for one in printed:
            console.print(one, width=width)
    click.echo(_BLANKS_AT_THE_END.sub("", captured.get()), nl=False, color=True)


def coloured() -> bool | None:
    """For `click.echo`: that colours are for terminals, or that none are wanted."""
    unwanted = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return False if unwanted else None


def show_json(content: dict[str, Any]) -> None:
    click.echo(json.dumps(content, indent=2))


def never_fail_to_encode() -> None:
    """Letters that the terminal's encoding lacks become question marks."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure and (stream.encoding or "").lower().replace("-", "") != "utf8":
            reconfigure(errors="replace")

"""Output of commands: as wide as the terminal, with colours only there, and safe to pipe."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

_DIFF_STYLES: dict[str, dict[str, Any]] = {
    "+++": {"bold": True},
    "---": {"bold": True},
    "+": {"fg": "green"},
    "-": {"fg": "red"},
    "@": {"fg": "cyan"},
    "#": {"fg": "yellow"},
}
"""Styles of the lines of a diff, by how they begin."""
_BLANKS_AT_THE_END = re.compile(r"[ \t]+(?=(\x1b\[[0-9;]*m)*$)", re.MULTILINE)


def show(*printed: RenderableType, widest: int | None = None) -> None:
    """Print rich renderables."""
    from rich.console import Console

    console = Console(highlight=False)
    width = min(console.width, widest) if widest else console.width
    # Captured, since rich has its own idea of what to do about a closed pipe.
    with console.capture() as captured:
        for renderable in printed:
            # What a renderable lets run over the edge is meant to be copied.
            console.print(renderable, width=width, crop=False)
    click.echo(_BLANKS_AT_THE_END.sub("", captured.get()), nl=False, color=True)


def is_terminal() -> bool:
    """Tell whether the output goes to a terminal, rather than a pipe or a file."""
    return sys.stdout is not None and sys.stdout.isatty()  # None: closed by `>&-`


def colour_choice() -> bool | None:
    """Return `color` for `click.echo`: None for colours on terminals only, False for none.

    True, for colours everywhere, is what `FORCE_COLOR` asks for; rich reads these variables itself.
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return True if os.environ.get("FORCE_COLOR") else None


def show_json(content: dict[str, Any]) -> None:
    click.echo(json.dumps(content, indent=2))


def replace_unencodable() -> None:
    """Print question marks for letters that the terminal's encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure and (stream.encoding or "").lower().replace("-", "") != "utf8":
            reconfigure(errors="replace")


def echo_coloured(lines: Iterable[str]) -> None:
    """Print the lines of a diff, and of remarks that begin with `#`."""
    for line in lines:
        style = _DIFF_STYLES.get(line[:3].strip()) or _DIFF_STYLES.get(line[:1]) or {}
        click.echo(click.style(line, **style), color=colour_choice())


@contextmanager
def progress_bar(label: str = "") -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar on standard error while the block runs, if that is a terminal.

    Yields:
        the function that moves the bar. Its arguments are the next label, the number of parts that
        are done, and the number of all parts; 0 if that is not known yet.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[now]}"),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=None, now=label)

        def move(now: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total or None, now=now)

        yield move

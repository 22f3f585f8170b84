"""Show a progress bar on standard error, if that is a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .sweep import Progress


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show a bar while the block runs; it yields the function that moves it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[now]}"),
    )
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None, now="")

        def move(label: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total or None, now=label)

        yield move

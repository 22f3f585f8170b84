"""Show a progress bar on standard error, if that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(label: str = "") -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar while the block runs.

    Args:
        label: what is shown beside the bar until it moves.

    Yields:
        the function that moves the bar. Its arguments are the next label, the number of parts that
        are done, and that of all parts; 0 if that is not known yet.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

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

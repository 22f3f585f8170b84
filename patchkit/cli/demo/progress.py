"""Show a progress bar on standard error, if that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(steps: int) -> Iterator[Callable[[str, int], None]]:
    """Show a bar while the block runs; it yields the function that moves it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda description, step: None
        return
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=steps)

        def show(description: str, step: int) -> None:
            bar.update(task, description=description, completed=step)

        yield show

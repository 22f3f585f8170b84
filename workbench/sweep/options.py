"""Options of the commands that keep their results in a file and go on from it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from patchkit.cli.arguments import check_writable, form_options
from patchkit.errors import UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from .journal import SweepJournal


def sweep_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--timeout`, `--show`, and the options for the form of what is shown."""
    command = form_options("table", "markdown", "json")(command)
    command = click.option(
        "--show", "only_show", is_flag=True, help="Try nothing; show what the file has."
    )(command)
    return click.option(
        "--timeout",
        type=click.FloatRange(1),
        default=120.0,
        show_default=True,
        help="Seconds that each attempt may take.",
    )(command)


def show_results(
    results: Any,
    form: str,
    as_table: Callable[[Any], Iterable[RenderableType]],
    as_markdown: Callable[[Any], str],
) -> None:
    """Show the results of a sweep in a form, and end with their exit status."""
    from patchkit.cli.output import show, show_json

    if form == "json":
        show_json(results.to_dict())
    elif form == "markdown":
        click.echo(as_markdown(results))
    else:
        show(*as_table(results))
    sys.exit(results.exit_status)


def check_outputs(outputs: Sequence[Path], *, only_show: bool) -> None:
    """Refuse files that cannot be shown or written, before the libraries are imported.

    Args:
        outputs: the files that the user named.
        only_show: whether they are only shown.

    Raises:
        UsageError: none is named to show, one is not there, several are to be written, or one
            cannot be.
    """
    if only_show and not outputs:
        raise UsageError("--show needs --output, the file to show")
    if len(outputs) > 1 and not only_show:
        raise UsageError("results are kept in one --output; several are for --show")
    for output in outputs:
        if not only_show:
            check_writable(output, "--output")
        elif not output.exists():
            raise UsageError(f"--show: there is no file {output}")


@contextmanager
def told_how_to_go_on(output: Path | None) -> Iterator[None]:
    """If the block is interrupted, say whether another run continues from there.

    Args:
        output: the file that keeps the results; None if there is none.
    """
    try:
        yield
    except KeyboardInterrupt:
        if output is None:
            raise KeyboardInterrupt("With --output FILE the results are kept.") from None
        if not output.exists():  # interrupted before the first result
            raise
        raise KeyboardInterrupt(f"The same command goes on from {output}.") from None


def check_shown(journal: SweepJournal[Any]) -> None:
    """Raise UsageError if a file that is to be shown has no results."""
    if not journal.environment:
        raise UsageError(f"--show: {journal.path} has no results")

"""`--output` and `--show` of the commands that keep their results in a file and go on from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from patchkit.cli.arguments import check_writable
from patchkit.errors import UsageError

if TYPE_CHECKING:
    from .journal import Journal


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
    """Say, where the block is interrupted, whether another run goes on from there.

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


def check_shown(journal: Journal) -> None:
    """Raise UsageError if a file that is to be shown has no results."""
    if not journal.environment:
        raise UsageError(f"--show: {journal.path} has no results")

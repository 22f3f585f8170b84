"""The exit statuses that all commands share, and the handling of errors and interruptions."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import click

from ..errors import PatchError

if TYPE_CHECKING:
    from ..catalogue.entries import Catalogue

USAGE = 64
"""EX_USAGE of sysexits.h; `verify` needs click's 2 for something else."""
NOTHING_LOOKED_AT = 69
"""EX_UNAVAILABLE of sysexits.h: the libraries that a command examines are not installed."""
CANNOT_WRITE = 74
"""EX_IOERR of sysexits.h."""
INTERRUPTED = 130
CLOSED_PIPE = 141
"""The shell's status for a process that SIGPIPE ended; `INTERRUPTED` is that of SIGINT."""


@contextlib.contextmanager
def short_errors() -> Iterator[None]:
    """End usage errors and our own with one line and `USAGE`, and Ctrl-C with `INTERRUPTED`.

    A `KeyboardInterrupt` with a text says there how to go on.
    """
    try:
        yield
    except click.UsageError as error:
        raise _set_status(error) from error.__cause__
    except PatchError as error:
        raise _set_status(click.UsageError(str(error))) from error
    except KeyboardInterrupt as interruption:
        after_the_echo = "\n" if sys.stderr.isatty() else ""
        how_to_go_on = f" {interruption}" if interruption.args else ""
        click.echo(f"{after_the_echo}Interrupted.{how_to_go_on}", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            _discard_output()
            click.echo(f"Error: cannot write: {error.strerror}", err=True)
            raise click.exceptions.Exit(CANNOT_WRITE) from None
        if error.errno != errno.EPIPE:
            raise
        _discard_output()
        raise click.exceptions.Exit(CLOSED_PIPE) from None


def _discard_output() -> None:
    """Drop unwritten output, which Python would try to write again at exit, and complain."""
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _set_status(error: click.UsageError) -> click.UsageError:
    vars(error)["exit_code"] = USAGE  # over that of the class
    return error


def exit_if_absent(catalogue: Catalogue, chosen: Collection[str] | None) -> None:
    """Say so and exit if no library of these patches is installed for this Python."""
    from ..environment import installed_version
    from ..text import short_list

    entries = [entry for entry in catalogue if chosen is None or entry.patch.id in chosen]
    libraries = sorted({entry.patch.library for entry in entries})
    if not libraries or any(map(installed_version, libraries)):
        return
    names = short_list(libraries, len(libraries))
    click.echo(
        f"Nothing was looked at: {sys.executable} has none of the libraries that these patches "
        f"fix ({names}). Install them there, or use the Python that trains: "
        "PYTHON -m patchkit ...",
        err=True,
    )
    sys.exit(NOTHING_LOOKED_AT)

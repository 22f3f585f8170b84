"""The exit statuses that all commands share, and what becomes of errors and interruptions."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator

import click

from ..errors import PatchError

USAGE = 64
"""EX_USAGE of sysexits.h; `verify` needs click's 2 for something else."""
CANNOT_WRITE = 74
"""EX_IOERR of sysexits.h."""
INTERRUPTED = 130
CLOSED_PIPE = 141
"""As a shell reports a process that SIGINT, or SIGPIPE, has ended."""


@contextlib.contextmanager
def in_one_line() -> Iterator[None]:
    """Errors of usage, and our own, end with a line and `USAGE`; a Ctrl-C with `INTERRUPTED`."""
    try:
        yield
    except click.UsageError as error:
        raise _with_our_status(error) from error.__cause__
    except PatchError as error:
        raise _with_our_status(click.UsageError(str(error))) from error
    except KeyboardInterrupt:
        after_the_echo = "\n" if sys.stderr.isatty() else ""
        click.echo(f"{after_the_echo}Interrupted.", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            _forget_what_is_unwritten()
            click.echo(f"Error: cannot write: {error.strerror}", err=True)
            raise click.exceptions.Exit(CANNOT_WRITE) from None
        if error.errno != errno.EPIPE:
            raise
        _forget_what_is_unwritten()
        raise click.exceptions.Exit(CLOSED_PIPE) from None


def _forget_what_is_unwritten() -> None:
    """Python would try to write it once more as it ends, and complain."""
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _with_our_status(error: click.UsageError) -> click.UsageError:
    vars(error)["exit_code"] = USAGE  # over that of the class
    return error

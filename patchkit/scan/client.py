"""The package index, asked by pip as the user has set it up."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

from ..children import command
from .errors import ScanError

_TIMEOUT = 900
"""Seconds that one call of pip may take."""

_OPTIONS = ("--no-input", "--disable-pip-version-check", "--ignore-requires-python")
_UNREACHED = re.compile(r"Retry\(total=0|Could not fetch URL|Max retries exceeded")


@dataclass(frozen=True)
class Answer:
    """What pip said.

    Args:
        ok: whether it did what it was asked for.
        output: its standard output.
        messages: its standard error.
    """

    ok: bool
    output: str
    messages: str

    @property
    def unreached(self) -> bool:
        """Whether pip gave up on an index; it goes on with what it has, and ends well."""
        return bool(_UNREACHED.search(self.messages))

    @property
    def error(self) -> str:
        """The error in one line."""
        lines = [line for line in self.messages.splitlines() if line.startswith("ERROR: ")]
        return lines[-1].removeprefix("ERROR: ") if lines else "pip failed without a word"


def ask(*arguments: str) -> Answer:
    """Run pip.

    Args:
        arguments: a command of pip and what it takes. No option says which index: that is the
            user's configuration.

    Raises:
        ScanError: there is no pip here, or it does not end.
    """
    try:
        done = subprocess.run(
            command("pip", *arguments, *_OPTIONS),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise ScanError(f"pip {arguments[0]} did not end within {_TIMEOUT} s") from None
    except OSError as error:
        raise ScanError(f"pip cannot be run: {error.strerror}") from error
    if done.returncode and "No module named pip" in done.stderr:
        raise ScanError(
            "releases are fetched with pip, and this environment has none: install it "
            "(python -m ensurepip), or give a folder of wheels with --from"
        )
    return Answer(done.returncode == 0, done.stdout, done.stderr)

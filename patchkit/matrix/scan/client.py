"""Ask the package index through pip, as the user has set it up."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

from ...children import command
from ..records import ScanError

_TIMEOUT = 900
"""Seconds that one call of pip may take."""

_OPTIONS = ("--no-input", "--disable-pip-version-check", "--ignore-requires-python")
_UNREACHED = re.compile(r"Retry\(total=0|Could not fetch URL|Max retries exceeded")


@dataclass(frozen=True)
class PipAnswer:
    """Whether a call of pip succeeded, its standard output and its standard error."""

    ok: bool
    output: str
    messages: str

    @property
    def unreached(self) -> bool:
        """True if pip gave up on an index; it then goes on with the rest, and succeeds."""
        return bool(_UNREACHED.search(self.messages))

    @property
    def error(self) -> str:
        """The error as one line."""
        lines = [line for line in self.messages.splitlines() if line.startswith("ERROR: ")]
        return lines[-1].removeprefix("ERROR: ") if lines else "pip failed without a message"


def run_pip(*arguments: str) -> PipAnswer:
    """Run a command of pip; no option names an index: the user's configuration does.

    Raises:
        ScanError: there is no pip here, or it does not finish.
    """
    try:
        result = subprocess.run(
            command("pip", *arguments, *_OPTIONS),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise ScanError(f"pip {arguments[0]} did not finish within {_TIMEOUT} s") from None
    except OSError as error:
        raise ScanError(f"pip cannot be run: {error.strerror}") from error
    if result.returncode and "No module named pip" in result.stderr:
        raise ScanError(
            "releases are fetched with pip, and this environment has none: install it "
            "(python -m ensurepip), or give a folder of wheels with --from"
        )
    return PipAnswer(result.returncode == 0, result.stdout, result.stderr)

"""What happens in an interpreter that starts under `patchkit run`."""

from __future__ import annotations

import os
import sys
import warnings

import patchkit

from .carrying import carry_on
from .choices import Choices

_SHOWN = 60
"""How many characters of a command line a message shows."""


def start(chosen: str, folder: str) -> None:
    """Apply what was chosen, here and in the processes that this one starts.

    Args:
        chosen: the encoded choices.
        folder: what PYTHONPATH must name for that.

    Raises:
        PatchError: patchkit cannot do what was chosen.
    """
    choices = Choices.decode(chosen)
    carry_on(folder, chosen)
    with warnings.catch_warnings():
        if not choices.strict:
            # Where the command makes errors of warnings, ours would come when all is done.
            warnings.simplefilter("default", patchkit.PatchWarning)
        report = patchkit.apply(**choices.arguments())
    if choices.verbose:
        program = " ".join(" ".join(sys.orig_argv).split())
        if len(program) > _SHOWN:
            program = f"{program[:_SHOWN]}…"
        print(
            f"patchkit run: process {os.getpid()} ({program}): {report.summary()}",
            file=sys.stderr,
            flush=True,
        )

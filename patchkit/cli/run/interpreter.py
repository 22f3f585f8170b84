"""The start of an interpreter under `patchkit run`."""

from __future__ import annotations

import os
import sys

from ...engine import deferred
from ...known import unasked
from . import last_word
from .carrying import carry_into_children

TYPE_CHECKING = False  # this is imported in each interpreter of a command
if TYPE_CHECKING:
    from ...reporting.report import Report

_SHOWN = 60
"""Characters of a command line that a message shows."""
_MAY_WAIT = ('"strict":false', '"verbose":false', '"patches":[]')
"""Choices that an interpreter needs to be able to wait for the first import of a library."""


def start(chosen: str, folder: str) -> None:
    """Apply the encoded choices, here and in the processes that this one starts.

    Raises:
        PatchError: patchkit cannot carry out the choices.
    """
    chosen = last_word.begin(chosen)
    carry_into_children(folder, chosen)
    if '"explain":false' not in chosen:
        unasked.watch(insist='"explain":true' in chosen)
    last_word.say_at_exit()
    packages = None
    if all(choice in chosen for choice in _MAY_WAIT):
        packages = deferred.packages_to_wait_for(legacy=_may_want_legacy(chosen))
    if packages is None:
        _apply(chosen)
    else:
        deferred.until_first_import(packages, lambda: _apply_at_import(chosen))


def _may_want_legacy(chosen: str) -> bool:
    """Tell whether the legacy layer may be wanted, without reading what chooses it."""
    if '"legacy":null' in chosen:
        return bool(os.environ.get("PATCHKIT_LEGACY"))
    return '"legacy":false' not in chosen


def _apply_at_import(chosen: str) -> Report:
    """Apply the choices as a library is imported; no error of patchkit may stop that import."""
    from ...errors import PatchError
    from ...reporting.report import Report

    try:
        return _apply(chosen)
    except Exception as error:
        reason = str(error) if isinstance(error, PatchError) else f"{type(error).__name__}: {error}"
        _say(f"runs without patchkit: {reason.splitlines()[0]}")
        return Report(())


def _apply(chosen: str) -> Report:
    import warnings

    from ...engine.choices import Choices
    from ...engine.session import SESSION
    from ...errors import PatchWarning

    choices = Choices.decode(chosen)
    with warnings.catch_warnings():
        if not choices.strict:
            # The command may turn warnings into errors, and ours come when all is done.
            warnings.simplefilter("default", PatchWarning)
        report = SESSION.apply(choices, at_once=choices.verbose)
    if choices.legacy:
        _summarize_at_exit()
    if choices.verbose:
        program = " ".join(" ".join(sys.orig_argv).split())
        if len(program) > _SHOWN:
            program = f"{program[:_SHOWN]}…"
        _say(report.summary(), f" ({program})")
    return report


def _summarize_at_exit() -> None:
    """Print at exit what the script used from older releases."""
    import atexit

    from ...engine.session import SESSION
    from ...legacy.uses import is_first_rank

    def summarize() -> None:
        legacy = SESSION.legacy()
        lines = [] if legacy is None else legacy.own_lines()  # frameworks are told already
        if legacy is not None and lines and is_first_rank():
            _say("\n  ".join([legacy.heading(), *lines]))

    atexit.register(summarize)


def _say(text: str, program: str = "") -> None:
    print(f"patchkit run: process {os.getpid()}{program}: {text}", file=sys.stderr, flush=True)

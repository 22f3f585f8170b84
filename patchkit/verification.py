"""Show each bug, and its absence with the patch: reproducers in fresh processes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from re import search
from typing import Any

from .catalogue import Entry
from .patch import Status
from .resolution import resolve

TIMEOUT = 600
"""Seconds that one reproducer may take."""


@dataclass(frozen=True)
class Verdict:
    """What became of one patch.

    Args:
        id: the patch.
        outcome: `mended` (the bug showed without the patch and not with it), `not-mended`,
            `not-reproduced` (no bug without the patch either: it may be fixed upstream),
            `not-affected`, `needs-cuda` (the reproducer needs a GPU, and there is none), or `error`
            (the reproducer failed for another reason).
        without: what happened without the patch, in one line.
        with_patch: what happened with it.
    """

    id: str
    outcome: str
    without: str = ""
    with_patch: str = ""


class Verification(tuple[Verdict, ...]):
    """The verdicts on several patches."""

    @property
    def exit_status(self) -> int:
        """0 if all is well, 1 if a due patch does not mend, 2 if a due bug does not show."""
        outcomes = {one.outcome for one in self}
        if outcomes & {"not-mended", "error"}:
            return 1
        return 2 if "not-reproduced" in outcomes else 0

    def to_dict(self) -> dict[str, Any]:
        return {"schema": 1, "verdicts": [vars(one) for one in self]}


def verify(
    only: str | Iterable[str] | None = None,
    *,
    progress: Callable[[str], None] = lambda patch_id: None,
) -> Verification:
    """Run the reproducer of each patch that is due here, without it and with it.

    Args:
        only: ids or globs; all by default.
        progress: called with the id of each patch before its turn.

    Raises:
        UnknownPatchError: `only` names no patch.
    """
    return Verification(_verdicts(only, progress))


def _verdicts(
    only: str | Iterable[str] | None, progress: Callable[[str], None]
) -> Iterator[Verdict]:
    from .session import SESSION

    catalogue = SESSION.catalogue
    chosen = set(catalogue.entries) if only is None else catalogue.named(only, "only=")
    for entry in catalogue:
        if entry.patch.id in chosen:
            progress(entry.patch.id)
            yield _verdict(entry)


def _verdict(entry: Entry) -> Verdict:
    patch = entry.patch
    try:
        resolution = resolve(patch)
    except ValueError as error:
        return Verdict(patch.id, "error", str(error))
    if resolution.verdict in (Status.NOT_AFFECTED, Status.NOT_INSTALLED):
        return Verdict(patch.id, "not-affected", resolution.reason)
    if entry.reproduce is None:
        return Verdict(patch.id, "error", "the patch has no reproducer")
    if patch.requires == "cuda" and not _cuda_is_available():
        return Verdict(patch.id, "needs-cuda", "there is no GPU to run the reproducer on")
    without = _run(patch.id)
    patched = _run(patch.id, "--patched")
    shown = without["outcome"] == "raised"
    if without["outcome"] == "error" or (shown and not search(patch.symptom, without["message"])):
        outcome = "error"
    elif patched["outcome"] != "passed":
        outcome = "not-mended"
    else:
        outcome = "mended" if shown else "not-reproduced"
    return Verdict(patch.id, outcome, _line(without), _line(patched))


def _cuda_is_available() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def _run(*arguments: str) -> dict[str, str]:
    command = [sys.executable, "-m", "patchkit.reproduce", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        outcome: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"outcome": "error", "message": f"took more than {TIMEOUT} s"}
    except (IndexError, ValueError):
        return {"outcome": "error", "message": f"died: {done.stderr.strip()[-500:]}"}
    return outcome


def _line(outcome: dict[str, str]) -> str:
    if outcome["outcome"] == "passed":
        return "no error"
    message = outcome.get("message", "")
    return f"{outcome.get('type', outcome['outcome'])}: {message}"[:300]

"""What to do about a patch that does not simply hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .errors import UsageError
from .patch import Status
from .status import DUE, ROWS, TROUBLE

if TYPE_CHECKING:
    from .patch_record import PatchRecord


def advice(one: PatchRecord) -> str:
    """What its reader can do about a patch; empty where there is nothing to be done."""
    if one.status is Status.FAILED and not one.affects and isinstance(one.error, UsageError):
        return "correct PATCHKIT_PATCHES, or unset it; all other patches work"
    if one.status is Status.FAILED and not one.affects:
        return "mend that patch file, or uninstall what brings it; all other patches work"
    if one.status is Status.FAILED:
        return (
            f"`PATCHKIT_DISABLE={one.id}` goes without it; please report it to patchkit with "
            f'the exception in report()["{one.id}"].error'
        )
    if one.status is Status.DRIFTED and one.rival:
        return f"leave one of the two out: `PATCHKIT_DISABLE={one.id}`, or `={one.rival}`"
    if one.status is Status.DRIFTED and one.replaced:
        return (
            "call patchkit.apply() before whatever replaced it, or leave the patch out: "
            f"`PATCHKIT_DISABLE={one.id}`"
        )
    if one.status is Status.DRIFTED:
        return (
            f"`patchkit verify {one.id}` shows whether the bug is still there. If it is, install "
            f"a release of {one.library} that `patchkit matrix show {one.id}` lists, and report "
            f"the drift to patchkit; if not, `PATCHKIT_DISABLE={one.id}` keeps it quiet"
        )
    if one.status is Status.OVERRIDDEN:
        return (
            "call patchkit.apply() again after whatever replaced it. Where that does not mend what "
            "is there now, it has no such code, or it calls the mended original"
        )
    if one.status is Status.AVAILABLE:
        return f"{call(one.opt_in)} applies it"
    return ""


def call(opt_in: str) -> str:
    """The call that applies a patch which is due.

    Args:
        opt_in: the keyword that asks for it; empty for most.
    """
    return f"patchkit.apply({f'{opt_in}=True' if opt_in else ''})"


def doubtful(report: Iterable[PatchRecord]) -> dict[str, list[str]]:
    """What the matrix has to say against patches that are due: to the ids that it says it of."""
    found: dict[str, list[str]] = {}
    for one in report:
        if one.status in DUE and _is_doubtful(one):
            found.setdefault(str(one.tested), []).append(one.id)
    return found


def _is_doubtful(one: PatchRecord) -> bool:
    tested = one.tested
    return tested.level in ("none", "unknown") or (
        tested.level == "scanned" and tested.outcomes != ("matches",)
    )


def standing(report: Iterable[PatchRecord]) -> str:
    """How it stands, in one line: `23 patches applied, 1 drifted`."""
    records = [record for record in report if not is_unasked(record)]
    done, *to_do = DUE
    counts = Counter(record.status for record in records)
    parts = [
        f"{counts[status]} {ROWS[status].counted_as or status}"
        for status in (done, *reversed(TROUBLE), *to_do)
        if counts[status]
    ]
    if not parts:
        return "no patch is due here" if records else "no patches"
    number, _, word = parts[0].partition(" ")
    return ", ".join([f"{number} patch{'' if number == '1' else 'es'} {word}", *parts[1:]])


def is_unasked(one: PatchRecord) -> bool:
    """Whether a patch waits for nothing but somebody who asks for it by its keyword."""
    return one.status is Status.AVAILABLE and bool(one.opt_in)

"""How a report stands, and what there is to say against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..patch import Status
from .record import PatchRecord
from .status import DUE, ROWS, TROUBLE


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

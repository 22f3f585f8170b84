"""The summary line of a report, and the doubts that the matrix raises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..errors import UnreadableVersion
from ..patch import Status
from ..text import plural
from .record import PatchRecord
from .status import DUE, ROWS, TROUBLE


def doubts(report: Iterable[PatchRecord]) -> dict[str, list[str]]:
    """Return the doubts of the matrix about patches that are due, each with the ids it concerns."""
    ids: dict[str, list[str]] = {}
    for record in report:
        if record.status in DUE and _is_doubtful(record):
            ids.setdefault(str(record.tested), []).append(record.id)
    return ids


def _is_doubtful(record: PatchRecord) -> bool:
    tested = record.tested
    return tested.level in ("none", "unknown") or (
        tested.level == "scanned" and tested.outcomes != ("matches",)
    )


def unreadable_versions(report: Iterable[PatchRecord]) -> dict[str, list[PatchRecord]]:
    """Return the sentences about versions that cannot be read, each with its patches."""
    found: dict[str, list[PatchRecord]] = {}
    for record in report:
        if isinstance(record.error, UnreadableVersion):
            found.setdefault(record.reason, []).append(record)
    return found


def summary_line(report: Iterable[PatchRecord]) -> str:
    """Return the counts by status in one line: `23 patches applied, 1 drifted`."""
    records = [record for record in report if not is_opt_in(record)]
    unreadable = unreadable_versions(records)
    versions = [f"{plural(len(unreadable), 'version')} unreadable"] if unreadable else []
    records = [record for record in records if record.reason not in unreadable]
    applied, *waiting = DUE
    counts = Counter(record.status for record in records)
    parts = [
        f"{counts[status]} {ROWS[status].summary_word or status}"
        for status in (applied, *reversed(TROUBLE), *waiting)
        if counts[status]
    ]
    if not parts:
        return versions[0] if versions else "no patch is due here" if records else "no patches"
    number, _, word = parts[0].partition(" ")
    return ", ".join(
        [f"{number} patch{'' if number == '1' else 'es'} {word}", *parts[1:], *versions]
    )


def is_opt_in(record: PatchRecord) -> bool:
    """Tell whether a patch only waits for someone to ask for it by its keyword."""
    return record.status is Status.AVAILABLE and bool(record.opt_in)

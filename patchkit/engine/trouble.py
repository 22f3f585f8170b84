"""Patches that are due and do not hold: which they are, and how a user hears of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType

from ..reporting.advice import unreadable_versions
from ..reporting.record import PatchRecord
from ..reporting.report import Report
from ..reporting.status import TROUBLE
from ..text import short_list

_MACHINERY = ("patchkit", "wrapt", "importlib", "contextlib")


def trouble_in(
    report: Report, names: Iterable[str], *, include_broken: bool = False
) -> list[PatchRecord]:
    """Return the records in trouble.

    Args:
        report: all records.
        names: the ids of the patches that count.
        include_broken: whether definitions that cannot be read count, too.
    """
    ids = set(names)
    if include_broken:
        ids |= {record.id for record in report if not record.affects}
    return [record for record in report if record.status in TROUBLE and record.id in ids]


def explain(trouble: list[PatchRecord]) -> str:
    lines = (f"  {sentence}" for _, sentence in sentences(trouble))
    return "\n".join(["not fixed, and strict=True:", *lines])


def sentences(trouble: list[PatchRecord]) -> Iterator[tuple[list[PatchRecord], str]]:
    """Yield a sentence for each problem, with the records that it concerns.

    A version that cannot be read is one problem, however many patches it concerns.
    """
    unreadable = unreadable_versions(trouble)
    for record in trouble:
        if record.reason not in unreadable:
            yield [record], f"patch {record.id} {record.status}: {record.reason}"
    for reason, concerned in unreadable.items():
        ids = short_list(record.id for record in concerned)
        which = f"{'patch' if len(concerned) == 1 else 'patches'} {ids}"
        yield concerned, f"{which} failed: {reason}; {concerned[0].advice}"


def caller_frame() -> FrameType:
    """Return the frame that called `apply` or imported the library."""
    frame = sys._getframe(1)
    while frame.f_back and _package(frame.f_globals) in _MACHINERY:
        frame = frame.f_back
    return frame


def _package(namespace: Mapping[str, object]) -> str:
    return str(namespace.get("__name__", "")).partition(".")[0]

"""Patches that are due and do not hold: which they are, and how a user hears of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from types import FrameType

from ..reporting.record import PatchRecord
from ..reporting.report import Report
from ..reporting.status import TROUBLE

_MACHINERY = ("patchkit", "wrapt", "importlib", "contextlib")


def trouble_in(
    report: Report, wanted: Iterable[str], *, everything: bool = False
) -> list[PatchRecord]:
    """The records in trouble, of the patches wanted.

    Args:
        report: all records.
        wanted: ids.
        everything: whether definitions that cannot be read count, too.
    """
    ids = set(wanted)
    broken = {one.id for one in report if everything and not one.affects}
    return [one for one in report if one.status in TROUBLE and one.id in ids | broken]


def explain(trouble: list[PatchRecord]) -> str:
    return "\n".join(["not mended, and strict=True:", *(f"  {sentence(one)}" for one in trouble)])


def sentence(one: PatchRecord) -> str:
    return f"patch {one.id} {one.status}: {one.reason}"


def line_of_the_user() -> FrameType:
    """Where `apply` was called or the library imported, past us and the import machinery."""
    frame = sys._getframe(1)
    while frame.f_back and _package(frame.f_globals) in _MACHINERY:
        frame = frame.f_back
    return frame


def _package(namespace: Mapping[str, object]) -> str:
    return str(namespace.get("__name__", "")).partition(".")[0]

"""Find the due patches that do not hold, and warn the user of them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import FrameType

from ..errors import PatchWarning, UnreadableVersion
from ..reporting.advice import unreadable_versions
from ..reporting.record import PatchRecord
from ..reporting.report import Report
from ..reporting.status import TROUBLE
from ..text import short_list

_MACHINERY = ("patchkit", "wrapt", "importlib", "contextlib")


def trouble_in(
    report: Report, names: Iterable[str], *, include_broken: bool = False
) -> list[PatchRecord]:
    """Return the records in trouble."""
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


WarningKey = tuple[str, str, str]
"""What tells one warning from another: a patch, its status, and the reason."""


class Warnings:
    """The warnings that were given: one for each kind of trouble with each patch."""

    def __init__(self) -> None:
        self.given: frozenset[WarningKey] = frozenset()

    def give(self, records: Iterable[PatchRecord]) -> None:
        """Warn of the trouble in some records, unless there was a warning of it.

        Raises:
            PatchWarning: a filter turns warnings into errors.
        """
        new = [
            record for record in records if record.status in TROUBLE and not self._is_given(record)
        ]
        for concerned, sentence in sentences(new):
            self.given |= set(map(_key, concerned))
            warn(sentence)

    def forget(self, names: Collection[str]) -> None:
        """Warn of trouble with these patches once more, if there is any."""
        self.given = frozenset(key for key in self.given if key[0] not in names)

    def _is_given(self, record: PatchRecord) -> bool:
        """Tell whether there was a warning; one of a version counts for all of its patches."""
        if isinstance(record.error, UnreadableVersion):
            return any(reason == record.reason for _, _, reason in self.given)
        return _key(record) in self.given


def warn(sentence: str) -> None:
    """Warn at the place of the user's call.

    Raises:
        PatchWarning: a filter turns warnings into errors.
    """
    frame = _caller_frame()
    warnings.warn_explicit(sentence, PatchWarning, frame.f_code.co_filename, frame.f_lineno)


def _key(record: PatchRecord) -> WarningKey:
    return record.id, record.status.value, record.reason


def _caller_frame() -> FrameType:
    """Return the frame that called `apply` or imported the library."""
    frame = sys._getframe(1)
    while frame.f_back and _package(frame.f_globals) in _MACHINERY:
        frame = frame.f_back
    return frame


def _package(namespace: Mapping[str, object]) -> str:
    return str(namespace.get("__name__", "")).partition(".")[0]

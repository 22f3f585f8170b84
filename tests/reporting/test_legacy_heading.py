"""The line that a report and `patchkit run` have for the legacy layer."""

from __future__ import annotations

import pytest

from patchkit.legacy.changes import Change
from patchkit.legacy.uses import Kind, LegacyUse, RecordedPlace
from patchkit.reporting.legacy import LegacyReport


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([], "old spellings work; none met so far"),
        ([Kind.FIXED, Kind.FIXED], "old spellings work; 2 met so far"),
        ([Kind.REFUSED], "old spellings work; none met so far, 1 refused"),
        ([Kind.TOLD, Kind.FIXED], "old spellings work; 1 met so far, 1 changed without an error"),
    ],
)
def test_what_is_refused_or_told_does_not_count_as_an_old_spelling_that_works(
    kinds: list[Kind], expected: str
) -> None:
    change = Change(gone="trl 1.0.0", source="")
    uses = tuple(
        LegacyUse(change, kind, "X", "is gone", RecordedPlace("x.py", 1)) for kind in kinds
    )
    assert LegacyReport("", uses).heading() == expected

"""The statuses of a patch: `statuses.json` has a row for each, worst first."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ..about import shipped_table
from ..patch import Status

USUAL_STANDING = "patchkit.apply() fixes it"
"""What `patchkit explain` says of patches whose status nobody knows."""


class StatusRow(NamedTuple):
    """One status.

    Args:
        status: the status.
        meaning: the status in one sentence.
        due: whether the patch is due and nothing is wrong with it.
        trouble: whether the patch is due and does not hold.
        style: style for rich; empty if the patch is not due.
        tint: tint of its HTML cell; empty if the patch is not due.
        summary_word: its word in the summary line of a report; the status itself if empty.
        list_word: its word in `patchkit list`.
        mark: the character for that.
        colour: the colour of the mark.
        standing: what `patchkit explain` says before the names of such patches.
    """

    status: Status
    meaning: str
    due: bool = False
    trouble: bool = False
    style: str = ""
    tint: str = ""
    summary_word: str = ""
    list_word: str = "cannot be read"
    mark: str = "!"
    colour: str | None = "red"
    standing: str = USUAL_STANDING


TABLE = tuple(
    StatusRow(**{**row, "status": Status(row["status"])})
    for row in shipped_table("reporting/statuses.json")
)
ROWS = {row.status: row for row in TABLE}

TROUBLE = tuple(row.status for row in TABLE if row.trouble)
DUE = tuple(row.status for row in TABLE if row.due)
CONCERNED = TROUBLE + DUE
"""Statuses of patches whose bug the installed versions have."""


def rank(status: Status) -> int:
    """Return the place of a status in the table: the worst has 0."""
    return TABLE.index(ROWS[status])


def worst(statuses: Collection[Status]) -> Status:
    """Return the worst status among the targets of a due patch; `pending` if it has no targets."""
    return next((status for status in CONCERNED if status in statuses), Status.PENDING)

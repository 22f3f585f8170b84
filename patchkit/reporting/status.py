"""The statuses of a patch: one row for each, worst first."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ..patch import Status


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
        mark: the character for that, and its colour.
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
    mark: tuple[str, str | None] = ("!", "red")
    standing: str = "patchkit.apply() fixes it"


TABLE = (
    StatusRow(
        status=Status.FAILED,
        meaning="An error while applying: rolled back, with the exception.",
        trouble=True,
        style="bold red",
        tint="red",
    ),
    StatusRow(
        status=Status.DRIFTED,
        meaning=(
            "Due by version, but the anchor did not match as expected: the target was left alone."
        ),
        trouble=True,
        style="bold red",
        tint="red",
    ),
    StatusRow(
        status=Status.OVERRIDDEN,
        meaning="Was applied; someone replaced the target since.",
        trouble=True,
        style="bold yellow",
        tint="yellow",
    ),
    StatusRow(
        status=Status.APPLIED,
        meaning="Due, and the live targets carry it now.",
        due=True,
        style="green",
        tint="green",
        list_word="due",
        mark=("*", "green"),
        standing="already applied here",
    ),
    StatusRow(
        status=Status.PENDING,
        meaning="Due; its module has not been imported yet.",
        due=True,
        style="cyan",
        tint="blue",
        list_word="due",
        mark=("*", "green"),
        standing="already applied here",
    ),
    StatusRow(
        status=Status.AVAILABLE,
        meaning="Due, but not applied: `apply()` was not called, or `revert()` was.",
        due=True,
        style="cyan",
        tint="blue",
        summary_word="due and not applied",
        list_word="due",
        mark=("*", "green"),
        standing="patchkit.apply() fixes it here",
    ),
    StatusRow(
        status=Status.DISABLED,
        meaning="Left out by `only`, `exclude` or `PATCHKIT_DISABLE`.",
        list_word="disabled",
        mark=("o", None),
        standing="switched off here",
    ),
    StatusRow(
        status=Status.NOT_AFFECTED,
        meaning="The installed version does not have the bug.",
        list_word="not affected",
        mark=("-", None),
        standing="the installed versions do not need",
    ),
    StatusRow(
        status=Status.UNTESTED,
        meaning="Not due: the installed version is older than any measured, and may have the bug.",
        list_word="untested",
        mark=("~", "yellow"),
    ),
    StatusRow(
        status=Status.NOT_INSTALLED,
        meaning="The library is absent.",
        list_word="not installed",
        mark=(".", None),
    ),
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

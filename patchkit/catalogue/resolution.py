"""Decide from the installed versions alone whether a patch is due."""

from __future__ import annotations

from typing import NamedTuple

from .. import environment
from ..patch import Change, Patch, Status


class Resolution(NamedTuple):
    """The decision whether a patch is due here, and which of its changes.

    Args:
        verdict: None if it is due, else `not-installed` or `not-affected`.
        version: the installed version of the patched library; None if it is absent.
        reason: one sentence for the report; empty if the patch is due.
        changes: the changes that the installed version needs.
        older: the distribution whose version lies below its range, and that version; two empty
            strings if none does.
    """

    verdict: Status | None
    version: str | None
    reason: str = ""
    changes: tuple[Change, ...] = ()
    older: tuple[str, str] = ("", "")


def resolve(patch: Patch) -> Resolution:
    """Compare a patch's ranges with what is installed.

    Raises:
        UnreadableVersion: an installed version does not parse.
        ValueError: a range does not.
    """
    version = environment.installed_version(patch.library)
    for library, versions in patch.affects.items():
        present = environment.readable_version(library)
        if present is None:
            return Resolution(Status.NOT_INSTALLED, version, f"{library} is not installed")
        if not environment.in_range(present, versions):
            return Resolution(
                Status.NOT_AFFECTED,
                version,
                f"{library} {present} does not have this bug; {versions} has",
                older=(library, present)
                if environment.below_range(present, versions)
                else ("", ""),
            )
    assert version is not None
    due = tuple(
        change
        for change in patch.changes
        if not change.affects or environment.in_range(version, change.affects)
    )
    if not due:
        reason = f"none of its targets has this bug in {patch.library} {version}"
        return Resolution(Status.NOT_AFFECTED, version, reason)
    return Resolution(None, version, "", due)

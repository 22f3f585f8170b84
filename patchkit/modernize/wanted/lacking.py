"""What of a script the installed releases lack, and what the legacy layer does about that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from ...legacy.changes import Attribute as AttributeRow
from ...legacy.changes import Change, Drop, Gone, Keyword, Moved, Refuse, Value
from ...legacy.explanation import described
from ...legacy.versions.due import Due
from ...legacy.wording import release, since
from ..reading import NOT_LITERAL
from ..reading.kinship import ancestors
from ..reading.script import Attribute, Call
from .needs import Need, rows_for


class Fate(str, Enum):
    """What becomes of something that the installed releases lack."""

    FIXED = "fixed"
    """The legacy layer understands it."""
    GONE = "gone"
    """It has no counterpart any more."""
    NEWER = "newer"
    """It came with a release after the installed one."""
    UNKNOWN = "unknown"
    """No release that was read has it, or nothing is known of what became of it."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Lacking:
    """Something that a script names and the installed releases lack.

    Args:
        need: what it is.
        fate: what becomes of it.
        text: a sentence without its beginning: since when, and what to do.
    """

    need: Need
    fate: Fate
    text: str


def lacking(
    needs: Iterable[Need], installed: Mapping[str, str], due: Due, known: Mapping[str, str]
) -> Iterator[Lacking]:
    """Yield what the installed releases lack, in the order of the script.

    Args:
        needs: what the script names.
        installed: library to the installed release.
        due: the rows of the table for the installed releases.
        known: library to the release that stands for the installed one in the history.
    """
    rows = _Rows(due)
    for need in needs:
        row = rows.of(need)
        in_call = row is not None and isinstance(need.subject, Call) and not _is_early(row)
        if in_call or not need.holds(known):
            yield _lacking(need, row, installed)


def _lacking(need: Need, row: Change | None, installed: Mapping[str, str]) -> Lacking:
    if row is not None:
        if _is_refused(row, need):
            return Lacking(need, Fate.GONE, f"{since(row)}. {_instead(row)}")
        words = described(row)
        text = f"; {words.today}" if words else ""
        text = f"; {row.advice}" if isinstance(row, AttributeRow) else text
        return Lacking(need, Fate.FIXED, since(row) + text)
    absent = [
        library
        for library in dict.fromkeys(it for together in need.possible for it in together)
        if library not in installed
    ]
    if absent:
        return Lacking(need, Fate.NEWER, f"needs {', '.join(absent)}, which is not installed")
    newer = _newer(need, installed)
    if newer:
        return Lacking(need, Fate.NEWER, f"came with {newer}")
    if need.possible:
        return Lacking(need, Fate.UNKNOWN, "is not in the installed release")
    return Lacking(need, Fate.UNKNOWN, "is in no release that was read; is it spelled right?")


class _Rows:
    """The rows of the table that are about what a script names.

    Args:
        due: the rows for the installed releases.
    """

    def __init__(self, due: Due) -> None:
        self._due = due
        self._moved = {row.name: row for row in due.of(Moved)}
        self._gone = {row.name: row for row in due.of(Gone)}

    def of(self, need: Need) -> Change | None:
        """Return the row that is about something; None if there is none."""
        if isinstance(need.subject, Call):
            return self._of_call(need, need.subject)
        if isinstance(need.subject, Attribute):
            return self._of_attribute(need.subject)
        return self._of_name(need.what)

    def _of_call(self, need: Need, call: Call) -> Change | None:
        rows = rows_for(call, self._due)
        if need.keyword in rows.keywords:
            return rows.keywords[need.keyword]
        given = need.given.value if need.given else NOT_LITERAL
        return next(
            (row for row in rows.values if row.name == need.keyword and row.value == given), None
        )

    def _of_attribute(self, attribute: Attribute) -> Change | None:
        owners = ancestors(attribute.owner)
        rows = (row for row in self._due.of(AttributeRow) if row.name == attribute.name)
        return next((row for row in rows if set(row.owners) & set(owners)), None)

    def _of_name(self, name: str) -> Change | None:
        moved = self._moved.get(name)
        if moved is not None and self._gone_above(moved.to) is None:
            return moved
        gone = self._gone_above(name)
        if gone is not None:
            return gone
        parts = name.split(".")
        above = (".".join(parts[:end]) for end in range(len(parts) - 1, 1, -1))
        of_module = next((self._moved[it] for it in above if it in self._moved), None)
        # A module is made anew if something in it has moved.
        within = (row for row in self._moved.values() if row.name.startswith(f"{name}."))
        return of_module or next(within, None)

    def _gone_above(self, name: str) -> Gone | None:
        """Return the row of a name, or of what it is in."""
        parts = name.split(".")
        places = (".".join(parts[:end]) for end in range(len(parts), 1, -1))
        return next((self._gone[it] for it in places if it in self._gone), None)


def _is_early(row: Change) -> bool:
    return isinstance(row, Keyword) and row.early


def _is_refused(row: Change, need: Need) -> bool:
    if isinstance(row, Gone):
        return True
    if isinstance(row, Value):
        return not row.to
    if not isinstance(row, Keyword):
        return False
    action, value = row.action, need.given.value if need.given else NOT_LITERAL
    if isinstance(action, Drop) and action.unless is not None and value is not NOT_LITERAL:
        return action.unless(value)
    return isinstance(action, Refuse)


def _instead(row: Change) -> str:
    if isinstance(row, Gone | Value):
        return row.instead
    action = row.action if isinstance(row, Keyword) else None
    return action.instead if isinstance(action, Drop | Refuse) else ""


def _newer(need: Need, installed: Mapping[str, str]) -> str:
    """Return the first release that has something, if it is newer than the installed one."""
    from packaging.version import Version

    for together in need.possible:
        for library, releases in together.items():
            first = min(releases, key=Version)
            if Version(first) > Version(installed[library]):
                return release(f"{library} {first}")
    return ""

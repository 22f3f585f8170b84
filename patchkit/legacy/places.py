"""Say where the names and modules of an older release are found today."""

from __future__ import annotations

from collections.abc import Iterable

from .changes import Gone, Moved
from .wording import LEAVE_OUT, since

OURS = "patchkit."
OF_OURS = f"{OURS}legacy.replacements."
_PUBLIC = f"{OURS}replacements."


def public_place(place: str) -> str:
    """Return where a script is to import a name from."""
    return _PUBLIC + place.rpartition(".")[2] if place.startswith(OF_OURS) else place


class FoundName:
    """Where a name or module is today.

    Args:
        row: the row of the table.
        place: its current place, with dots; empty if it is gone.
    """

    def __init__(self, row: Moved | Gone, place: str = "") -> None:
        self.row = row
        self.place = place

    @property
    def is_gone(self) -> bool:
        return not self.place

    @property
    def advice(self) -> str:
        """What to write, or a sentence that says what to do."""
        row = self.row
        if isinstance(row, Gone):
            return row.instead
        if row.idle:
            return LEAVE_OUT
        alike = row.alike
        module, _, last = (alike.to if alike else public_place(self.place)).rpartition(".")
        advice = f"write from {module} import {last}"
        if alike:
            given = ", ".join(f"{name}={value}" for name, value in alike.given.items())
            advice += f", with {given} where a call gives none"
        return f"{advice}; {self.differs}" if self.differs else advice

    @property
    def differs(self) -> str:
        """What has another behaviour there; empty if nothing has."""
        return self.row.differs if isinstance(self.row, Moved) else ""

    @property
    def refusal(self) -> str:
        """The sentence for what is gone; empty if it has only moved."""
        return self.row.instead if isinstance(self.row, Gone) else ""

    def __str__(self) -> str:
        return f"{self.row.name} {since(self.row)}{'. ' if self.is_gone else '; '}{self.advice}"


class Places:
    """The names and modules that have moved or are gone.

    A name that has moved may be gone altogether in a later release, and then has two rows.
    """

    def __init__(self, rows: Iterable[Moved | Gone]) -> None:
        rows = tuple(rows)
        self._moved = {row.name: row for row in rows if isinstance(row, Moved)}
        self._gone = {row.name: row for row in rows if isinstance(row, Gone)}
        # Each module that some script looks for in vain is looked up here.
        self._inside: dict[str, Moved] = {}
        for row in self._moved.values():
            parts = row.name.split(".")
            for end in range(1, len(parts)):
                self._inside.setdefault(".".join(parts[:end]), row)

    def names(self) -> Iterable[str]:
        return (*self._moved, *self._gone)

    def former(self) -> Iterable[str]:
        """Return all names that an import may ask for: these, and the modules that they were in."""
        return {*self.names(), *self._inside}

    def find(self, name: str) -> FoundName | None:
        """Return where a name is today; None if the table has no row for it.

        Args:
            name: a name or module by its old place, with dots. It may be in a module that has a
                row.
        """
        parts = name.split(".")
        for end in range(len(parts), 1, -1):
            found = self.exactly(".".join(parts[:end]))
            if found is not None:
                found.place += name.removeprefix(found.row.name) if found.place else ""
                return found
        return None

    def exactly(self, name: str) -> FoundName | None:
        """Return the same for a name that has a row of its own."""
        moved, gone = self._moved.get(name), self._gone.get(name)
        if moved is not None:
            above = self._gone_above(moved.to)
            if above is None:
                return FoundName(moved, moved.to)
            gone = gone or above
        return FoundName(gone) if gone is not None else None

    def gone(self, name: str) -> FoundName | None:
        """Return the row that says that a name is gone, even if an earlier one moved it."""
        gone = self._gone.get(name)
        return FoundName(gone) if gone is not None else None

    def _gone_above(self, place: str) -> Gone | None:
        """Return the row which says that a name, or a module that it is in, is gone."""
        parts = place.split(".")
        above = (".".join(parts[:end]) for end in range(2, len(parts) + 1))
        return next((self._gone[name] for name in above if name in self._gone), None)

    def inside(self, module: str) -> FoundName | None:
        """Return where something is today that was in a module."""
        row = self._inside.get(module)
        return FoundName(row, row.to) if row is not None else None

"""Summarize for a report what the legacy layer did."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` takes long to import
if TYPE_CHECKING:
    from typing import Any

    from ..legacy.uses import LegacyUse


class LegacyReport:
    """The legacy layer, which is on.

    Args:
        written_for: the versions that a script was written for; empty if they were not given.
        uses: the rows of the table that the script used, in order of use.
    """

    def __init__(self, written_for: str, uses: tuple[LegacyUse, ...]) -> None:
        self.written_for = written_for
        self.uses = uses

    @classmethod
    def of(cls, choice: bool | str, uses: tuple[LegacyUse, ...]) -> LegacyReport:
        """Return the report of a layer that is on with this choice."""
        return cls(choice if isinstance(choice, str) else "", uses)

    def heading(self) -> str:
        """Return the state of the layer in one line."""
        from collections import Counter

        from ..legacy.uses import Kind

        for_what = f", as with {self.written_for}" if self.written_for else ""
        counts = Counter(use.kind for use in self.uses if not use.framework)
        parts = [f"{counts[Kind.FIXED] or 'none'} met so far"]
        if counts[Kind.TOLD]:
            parts.append(f"{counts[Kind.TOLD]} changed without an error")
        if counts[Kind.REFUSED]:
            parts.append(f"{counts[Kind.REFUSED]} refused")
        return f"old spellings work{for_what}; {', '.join(parts)}"

    def lines(self) -> list[str]:
        """Return a line for each use in the user's code, and one for each framework."""
        from ..legacy.uses import lines_of_frameworks

        return [*self.own_lines(), *lines_of_frameworks(self.uses)]

    def own_lines(self) -> list[str]:
        """Return a line for each use in the user's code."""
        return [
            str(use) + (f" ({use.count} times)" if use.count > 1 else "")
            for use in self.uses
            if not use.framework
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"written_for": self.written_for, "uses": [use.to_dict() for use in self.uses]}

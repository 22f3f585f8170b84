"""Define the findings of a preflight: each with its reason and the change that fixes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from ..about import shipped_table
from ..errors import UsageError
from ..text import TextEnum

SCHEMA = 1


class Severity(TextEnum):
    """The severity of a finding."""

    ERROR = "error"
    """Training raises, diverges or cannot do what the user asked for."""
    WARNING = "warning"
    """Training runs, but loses precision, time or memory, or ignores part of the arguments."""
    NOTE = "note"
    """Good to know."""


@dataclass(frozen=True)
class Finding:
    """A problem of a training.

    Args:
        id: its id; lower-case words joined by hyphens.
        severity: its severity.
        found: the problem, with names, counts and dtypes.
        why: its consequence.
        change: the change to the user's code that fixes it.
        fixed: the repair that `fix=True` made; empty if none was made.
        repair: fixes it and returns a sentence about it; None if patchkit cannot fix it.
    """

    id: str
    severity: Severity
    found: str
    why: str
    change: str
    fixed: str = ""
    repair: Callable[[], str] | None = field(default=None, repr=False, compare=False)

    @property
    def fixable(self) -> bool:
        """True if `preflight(…, fix=True)` can fix it."""
        return self.repair is not None

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "severity": self.severity.value,
            "found": self.found,
            "why": self.why,
            "change": self.change,
            "fixable": self.fixable,
            "fixed": self.fixed,
        }

    def __str__(self) -> str:
        from .rendering import finding_as_text

        return finding_as_text(self.to_dict())


def rows() -> dict[str, dict[str, Any]]:
    """Return the texts of all findings, by name."""
    texts: dict[str, dict[str, Any]] = shipped_table("inspection/findings.json")
    return texts


def found(
    name: str,
    *,
    case: str = "",
    severity: Severity | None = None,
    repair: Callable[[], str] | None = None,
    **holes: object,
) -> Finding:
    """Return a finding, whose texts `findings.json` has.

    Args:
        name: its row: the id, and after a space what tells rows of one id apart.
        case: which of its texts, where a row has one for each case.
        severity: another one than the row has.
        repair: fixes it.
        holes: what stands in the texts for names in braces.
    """
    row = rows()[name]

    def text(key: str) -> str:
        written = row[key][case] if isinstance(row[key], dict) else row[key]
        lines = [written] if isinstance(written, str) else written
        return "\n".join(lines).format(**holes)

    return Finding(
        id=name.partition(" ")[0],
        severity=severity or Severity(row["severity"]),
        found=text("found"),
        why=text("why"),
        change=text("change"),
        repair=repair,
    )


class Findings(Sequence[Finding]):
    """The findings of a preflight, errors first and those fixed last.

    A sequence of findings, and a mapping of them by id: `findings["fp16-on-cpu"]`.

    Args:
        findings: the findings, in any order.
        looked_at: the training, described in one line.
    """

    def __init__(self, findings: Iterable[Finding], looked_at: str = "") -> None:
        order = list(Severity)
        self._findings = sorted(
            findings, key=lambda finding: (bool(finding.fixed), order.index(finding.severity))
        )
        self.looked_at = looked_at

    @property
    def ok(self) -> bool:
        """True if no error is left."""
        return not self.errors

    @property
    def errors(self) -> list[Finding]:
        """The errors that are left."""
        return self._remaining(Severity.ERROR)

    @property
    def warnings(self) -> list[Finding]:
        """The warnings that are left."""
        return self._remaining(Severity.WARNING)

    @property
    def notes(self) -> list[Finding]:
        """The notes that are left."""
        return self._remaining(Severity.NOTE)

    @property
    def fixed(self) -> list[Finding]:
        """The findings that `fix=True` has fixed."""
        return [finding for finding in self if finding.fixed]

    def _remaining(self, severity: Severity) -> list[Finding]:
        return [finding for finding in self if finding.severity is severity and not finding.fixed]

    @overload
    def __getitem__(self, key: int | str) -> Finding: ...
    @overload
    def __getitem__(self, key: slice) -> list[Finding]: ...
    def __getitem__(self, key: int | str | slice) -> Finding | list[Finding]:
        if not isinstance(key, str):
            return self._findings[key]
        for finding in self:
            if finding.id == key:
                return finding
        present = ", ".join(self.ids) or "nothing"
        raise UsageError(f"there is no finding {key!r}, only {present}")

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings)

    def __contains__(self, key: object) -> bool:
        return any(key == finding.id or key == finding for finding in self)

    @property
    def ids(self) -> list[str]:
        return [finding.id for finding in self]

    def summary(self) -> str:
        """Return the numbers of findings as one line."""
        counts = [
            (len(self.errors), "error"),
            (len(self.warnings), "warning"),
            (len(self.notes), "note"),
        ]
        parts = [f"{number} {word}{'s' * (number > 1)}" for number, word in counts if number]
        if self.fixed:
            parts.append(f"{len(self.fixed)} fixed")
        return ", ".join(parts) or "nothing to fix"

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "looked_at": self.looked_at,
            "findings": [finding.to_dict() for finding in self],
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        return json.dumps(self.to_dict(), indent=indent)

    def __str__(self) -> str:
        from .rendering import as_text

        return as_text(self.summary(), self.looked_at, map(str, self))

    def __repr__(self) -> str:
        return f"<Findings: {self.summary()}>"

    def _repr_html_(self) -> str:
        from .rendering import as_html

        return as_html(self.summary(), (finding.to_dict() for finding in self))

"""What a preflight found: severity, what, why, and the change that mends it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, overload

from ..errors import UsageError

SCHEMA = 1


class Severity(str, Enum):
    """How much a finding matters."""

    ERROR = "error"
    """Training raises, diverges or cannot do what was asked."""
    WARNING = "warning"
    """Training runs, and loses precision, time or memory, or does not do all that was asked."""
    NOTE = "note"
    """Good to know."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Finding:
    """One thing that does not fit.

    Args:
        id: which check found it; lower-case words joined by hyphens.
        severity: how much it matters.
        found: what was found, with names, counts and dtypes.
        why: what comes of it.
        change: the change to the user's code that mends it.
        fixed: what `fix=True` did about it; empty where nothing was done.
        repair: does it, and says in one sentence what was done; None where patchkit cannot.
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
        """Whether `preflight(…, fix=True)` can mend it."""
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


class Findings(Sequence[Finding]):
    """All that one preflight found, errors first and what was fixed last.

    A sequence of findings, and a mapping of them by id: `findings["fp16-on-cpu"]`.

    Args:
        findings: in any order.
        looked_at: what was looked at, in one line.
    """

    def __init__(self, findings: Iterable[Finding], looked_at: str = "") -> None:
        order = list(Severity)
        self._findings = sorted(
            findings, key=lambda one: (bool(one.fixed), order.index(one.severity))
        )
        self.looked_at = looked_at

    @property
    def ok(self) -> bool:
        """Whether no error is left."""
        return not self.errors

    @property
    def errors(self) -> list[Finding]:
        """The errors that are left."""
        return self._left(Severity.ERROR)

    @property
    def warnings(self) -> list[Finding]:
        """The warnings that are left."""
        return self._left(Severity.WARNING)

    @property
    def notes(self) -> list[Finding]:
        """The notes that are left."""
        return self._left(Severity.NOTE)

    @property
    def fixed(self) -> list[Finding]:
        """What `fix=True` has mended."""
        return [one for one in self if one.fixed]

    def _left(self, severity: Severity) -> list[Finding]:
        return [one for one in self if one.severity is severity and not one.fixed]

    @overload
    def __getitem__(self, key: int | str) -> Finding: ...
    @overload
    def __getitem__(self, key: slice) -> list[Finding]: ...
    def __getitem__(self, key: int | str | slice) -> Finding | list[Finding]:
        if not isinstance(key, str):
            return self._findings[key]
        for one in self:
            if one.id == key:
                return one
        present = ", ".join(self.ids) or "nothing"
        raise UsageError(f"no finding {key!r} here; there is {present}")

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings)

    def __contains__(self, key: object) -> bool:
        return any(key == one.id or key == one for one in self)

    @property
    def ids(self) -> list[str]:
        return [one.id for one in self]

    def summary(self) -> str:
        """The numbers of findings, in one line."""
        counts = [
            (len(self.errors), "error"),
            (len(self.warnings), "warning"),
            (len(self.notes), "note"),
        ]
        parts = [f"{number} {word}{'s' * (number > 1)}" for number, word in counts if number]
        if self.fixed:
            parts.append(f"{len(self.fixed)} fixed")
        return ", ".join(parts) or "nothing to mend"

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "looked_at": self.looked_at,
            "findings": [one.to_dict() for one in self],
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

        return as_html(self.summary(), (one.to_dict() for one in self))

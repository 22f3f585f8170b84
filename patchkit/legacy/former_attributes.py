"""Attributes that objects had under other names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .changed import ChangedAttributes
from .changes import Attribute
from .uses import Journal, Kind
from .wording import since


def answer_for(
    kind: type, rows: Mapping[str, Attribute], journal: Journal, changed: ChangedAttributes
) -> None:
    """Answer for attributes that the objects of a class do not have.

    Args:
        kind: a class. If it, or one that it derives from, answers for itself, it is left alone.
        rows: by the old name.
        journal: where uses are noted.
        changed: remembers what is changed for that.
    """
    if rows and not hasattr(kind, "__getattr__"):
        changed.change(kind, "__getattr__", _getter(rows, journal))


def _getter(rows: Mapping[str, Attribute], journal: Journal) -> Callable[[Any, str], Any]:
    def get_attribute(self: Any, name: str) -> Any:
        row = rows.get(name)
        if row is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = row.read(self)
        old = f"{type(self).__name__}.{name}"
        journal.note(row, Kind.MENDED, old, f"{old} {since(row)}; {row.advice}")
        return value

    return get_attribute

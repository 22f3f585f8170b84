"""Attributes that objects had under other names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from .changed import ChangedAttributes
from .changes import Attribute
from .errors import LegacyError
from .uses import Journal, Kind, calling_package
from .wording import since

_LIBRARIES = frozenset({"accelerate", "datasets", "transformers", "trl"})
"""Those that ask an object what it has, and are to hear the same as without the layer."""


def answer_for(
    kind: type, rows: Mapping[str, Attribute], journal: Journal, changed: ChangedAttributes
) -> None:
    """Answer for attributes that the objects of a class do not have.

    Args:
        kind: a class.
        rows: by the old name.
        journal: where uses are noted.
        changed: remembers what is changed for that.
    """
    if not rows:
        return
    if not hasattr(kind, "__getattr__"):
        changed.change(kind, "__getattr__", _getter(rows, journal))
        return
    for name, row in rows.items():
        # What such a class finds out by itself is asked for often, and compilers know it.
        if not hasattr(kind, name):
            changed.change(kind, name, _Former(row, journal))


def _getter(rows: Mapping[str, Attribute], journal: Journal) -> Callable[[Any, str], Any]:
    def get_attribute(self: Any, name: str) -> Any:
        row = rows.get(name)
        if row is None or _is_asked_by_library():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return _read(self, row, journal)

    return get_attribute


class _Former:
    """An attribute in the namespace of a class whose objects do not have it.

    An object that sets it has its own.
    """

    def __init__(self, row: Attribute, journal: Journal) -> None:
        self._row = row
        self._journal = journal

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None or _is_asked_by_library():
            raise AttributeError(f"{owner} has no attribute {self._row.name!r}")
        return _read(instance, self._row, self._journal)


def _read(instance: Any, row: Attribute, journal: Journal) -> Any:
    old = f"{type(instance).__name__}.{row.name}"
    if row.read is None:
        return _refusing(old, row, journal)
    value = row.read(instance)
    journal.note(row, Kind.MENDED, old, f"{old} {since(row)}; {row.advice}")
    return value


def _refusing(old: str, row: Attribute, journal: Journal) -> Callable[..., NoReturn]:
    """Return what stands for a method, and refuses to be called."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        message = f"{old}() {since(row)}. {row.advice}"
        raise LegacyError(str(journal.note(row, Kind.REFUSED, old, message)))

    return refuse


def _is_asked_by_library() -> bool:
    return calling_package() in _LIBRARIES

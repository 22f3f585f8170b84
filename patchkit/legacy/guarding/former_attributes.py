"""Attributes that objects no longer have, or had under other names."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping
from opcode import opname
from types import FrameType
from typing import Any, NoReturn

from ...whose import Whose, owner_of_frame
from ..changes import Assigned, Attribute
from ..decisions import Decision, decide_read
from ..errors import LegacyError
from ..uses import Journal, Kind
from ..wording import class_name, since
from .changed import ChangedAttributes
from .lookups import NameLookup, lookup_of

_PASSING_ON = ("__getattr__", "__getattribute__", "__setattr__", "__strict_setattr__")
_SIGNS = {"__add__": "+", "__radd__": "+", "__mul__": "*", "__rmul__": "*", "__getitem__": "[…]"}


def answer_for(
    cls: type, rows: Mapping[str, Attribute], journal: Journal, changed: ChangedAttributes
) -> None:
    """Answer for attributes that the objects of a class do not have.

    Args:
        cls: a class.
        rows: by the old name.
        journal: where uses are noted.
        changed: remembers the attributes that are set in the class.
    """
    if not rows:
        return
    answers = vars(cls).get("__getattr__")
    if answers is not None:
        # It may look into the namespace of the class as well.
        changed.change(cls, "__getattr__", _getter(answers, rows, journal))
        return
    changed.change(cls, "__dir__", _listing(cls.__dir__))
    for name, row in rows.items():
        present = vars(cls).get(name)
        if row.differs and isinstance(present, property) and present.fget is not None:
            changed.change(cls, name, present.getter(_differing(present.fget, row, journal)))
        elif not hasattr(cls, name):
            changed.change(cls, name, _FormerAttribute(row, journal))


def take_for(
    cls: type, rows: Iterable[Assigned], journal: Journal, changed: ChangedAttributes
) -> None:
    """Let properties of a class take old values; the arguments are those of `answer_for`."""
    for row in rows:
        present = vars(cls).get(row.name)
        if isinstance(present, property) and present.fset is not None:
            changed.change(cls, row.name, present.setter(_setter(present.fset, row, journal)))


def _setter(
    put: Callable[[Any, Any], None], row: Assigned, journal: Journal
) -> Callable[[Any, Any], None]:
    @functools.wraps(put)
    def set_attribute(self: Any, value: Any) -> None:
        if _needs_answer(row.name):
            value = row.convert(self, value)
            old = f"{class_name(type(self))}.{row.name} ="
            journal.note(row, Kind.FIXED, old, f"{old} {since(row)}; {row.advice}")
        put(self, value)

    return set_attribute


def _getter(
    answers: Callable[[Any, str], Any], rows: Mapping[str, Attribute], journal: Journal
) -> Callable[[Any, str], Any]:
    @functools.wraps(answers)
    def get_attribute(self: Any, name: str) -> Any:
        try:
            return answers(self, name)
        except AttributeError:
            if name not in rows or not _needs_answer(name):
                raise
        return _read(self, rows[name], journal)

    return get_attribute


def _differing(get: Callable[[Any], Any], row: Attribute, journal: Journal) -> Callable[[Any], Any]:
    @functools.wraps(get)
    def get_attribute(self: Any) -> Any:
        return _read(self, row, journal) if _needs_answer(row.name) else get(self)

    return get_attribute


def _listing(names: Callable[..., Iterable[str]]) -> Callable[[Any], list[str]]:
    """Return a `__dir__` that lists what an object has without the layer."""

    @functools.wraps(names)
    def list_names(self: Any) -> list[str]:
        held = {name: vars(cls)[name] for cls in type(self).__mro__[::-1] for name in vars(cls)}
        held |= getattr(self, "__dict__", {})
        return [name for name in names(self) if not isinstance(held.get(name), _FormerAttribute)]

    return list_names


class _FormerAttribute:
    """An attribute in the namespace of a class whose objects do not have it.

    An object that sets it has its own.
    """

    def __init__(self, row: Attribute, journal: Journal) -> None:
        self._row = row
        self._journal = journal

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        asked = owner if self._row.of_class else instance
        name = self._row.name
        if asked is None and _calls_getattr():
            return self  # `dir` of a class has its name, and what it names can be read
        if asked is None or not _needs_answer(name):
            asked = owner if instance is None else instance
            is_class = f"type object {getattr(asked, '__name__', '')!r}"
            what = is_class if isinstance(asked, type) else f"{type(asked).__name__!r} object"
            raise AttributeError(f"{what} has no attribute {name!r}", name=name, obj=asked)
        return _read(asked, self._row, self._journal)


def _read(instance: Any, row: Attribute, journal: Journal) -> Any:
    old = _named(instance, row.name)
    decision = decide_read(row)
    if decision.refusal or row.read is None:
        refusing = _refusing(f"{old}()" if row.is_method else old, row, decision, journal)
        return refusing if row.is_method else refusing()
    value = row.read(instance)
    journal.note(row, Kind.FIXED, old, f"{old} {since(row)}; {decision.advice}")
    return value


def _named(instance: Any, name: str) -> str:
    owner = class_name(instance if isinstance(instance, type) else type(instance))
    return f"{_SIGNS[name]} with a {owner}" if name in _SIGNS else f"{owner}.{name}"


def _refusing(
    old: str, row: Attribute, decision: Decision, journal: Journal
) -> Callable[..., NoReturn]:
    """Return a method in place of a former one that refuses to be called."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        message = f"{old} {since(row)}. {decision.refusal}"
        raise LegacyError(str(journal.note(row, Kind.REFUSED, old, message)))

    return refuse


def _needs_answer(name: str) -> bool:
    """Tell whether a script or framework needs an attribute, and would end in an error today.

    Libraries, and code that only looks whether the attribute is there, get upstream's answer.
    """
    frame = _asking_frame()
    if owner_of_frame(frame).whose not in (Whose.USER, Whose.FRAMEWORK):
        return False
    return name in _SIGNS or lookup_of(frame) is not NameLookup.PROBE


def _calls_getattr() -> bool:
    """Tell whether an attribute is asked for by `getattr` without a default."""
    frame = _asking_frame()
    is_call = "CALL" in opname[frame.f_code.co_code[frame.f_lasti]]
    return is_call and lookup_of(frame) is not NameLookup.PROBE


def _asking_frame() -> FrameType:
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_globals.get("__name__") == __name__ or frame.f_code.co_name in _PASSING_ON
    ):
        frame = frame.f_back
    return frame

"""Answer for attributes that objects no longer have; imported with the first that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from opcode import opname
from types import FrameType
from typing import Any, NoReturn

from ...whose import Whose, owner_of_frame
from ..changes import Assigned, Attribute
from ..decisions import Decision, decide_read
from ..errors import LegacyError
from ..uses import Journal, Kind
from ..wording import class_name, since
from .lookups import NameLookup, lookup_of

_PASSING_ON = ("__getattr__", "__getattribute__", "__setattr__", "__strict_setattr__")
_UNPACKED = "__iter__"
_SIGNS = {
    "__add__": "+",
    "__radd__": "+",
    "__mul__": "*",
    "__rmul__": "*",
    "__getitem__": "[…]",
    _UNPACKED: "a, b =",
}


def assigned(instance: Any, row: Assigned, value: Any, journal: Journal) -> Any:
    """Return what an old value means today that a script gives an attribute."""
    value = row.convert(instance, value)
    old = f"{class_name(type(instance))}.{row.name} ="
    journal.note(row, Kind.FIXED, old, f"{old} {since(row)}; {row.advice}")
    return value


def read(instance: Any, row: Attribute, journal: Journal) -> Any:
    """Return the value of an attribute that a script reads, or refuse it."""
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


def needs_answer(name: str, frame: FrameType) -> bool:
    """Tell whether a script or framework needs an attribute, and would end in an error today.

    Libraries, and code that only looks whether the attribute is there, get upstream's answer.

    Args:
        name: the attribute.
        frame: the frame that asks, or one of `former_attributes` on its way.
    """
    frame = _asking(frame)
    if owner_of_frame(frame).whose not in (Whose.USER, Whose.FRAMEWORK):
        return False
    if name == _UNPACKED:
        return opname[frame.f_code.co_code[frame.f_lasti]].startswith("UNPACK")
    return name in _SIGNS or lookup_of(frame) is not NameLookup.PROBE


def calls_getattr(frame: FrameType) -> bool:
    """Tell whether an attribute is asked for by `getattr` without a default.

    Args:
        frame: as for `needs_answer`.
    """
    frame = _asking(frame)
    is_call = "CALL" in opname[frame.f_code.co_code[frame.f_lasti]]
    return is_call and lookup_of(frame) is not NameLookup.PROBE


def _asking(frame: FrameType) -> FrameType:
    passing_on = frame.f_globals.get("__name__")
    while frame.f_back is not None and (
        frame.f_globals.get("__name__") == passing_on or frame.f_code.co_name in _PASSING_ON
    ):
        frame = frame.f_back
    return frame

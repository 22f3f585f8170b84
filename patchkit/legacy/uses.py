"""The old spellings that a script used, and the lines that have them."""

from __future__ import annotations

import atexit
import inspect
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, NamedTuple

from ..environment import installed_version
from ..text import TextEnum, plural, short_list
from ..whose import CodeOwner, Whose, owner_of_file, owner_of_frame
from .changes import Change
from .plain import PlainData

logger = logging.getLogger("patchkit.legacy")

_SHOWN = 4
_CALLING = (Whose.USER, Whose.FRAMEWORK)
"""Whose code a message names: libraries only pass calls on."""
_NOTED = "PATCHKIT_NOTED"
"""The environment variable by which processes know what the one that started them has noted.

`trl sft` reads its command line, and starts a process that reads it again.
"""


class Kind(TextEnum):
    """What the layer did about an old spelling."""

    FIXED = "fixed"
    """The script goes on as if it had the new one."""
    TOLD = "told"
    """The script goes on; its results may differ from those of the older release."""
    IMPORTED = "imported"
    """A gone name was imported; using it raises an error."""
    REFUSED = "refused"
    """An error was raised."""


class RecordedPlace(NamedTuple):
    """A line of the user's code, or of a framework's."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"

    @classmethod
    def of_function(cls, function: Callable[..., Any]) -> RecordedPlace:
        """Return where a function begins, below what is wrapped around it."""
        code = inspect.unwrap(function).__code__
        return cls(code.co_filename, code.co_firstlineno)


class LegacyUse(PlainData):
    """An old spelling in one line of the user's, or of a framework's.

    Attributes:
        change: the row of the table.
        kind: what the layer did about it.
        old: the old spelling, as in the script.
        message: the message to the user, without the place.
        place: the line.
        count: how often it ran.
        framework: the distribution whose line it is; empty for the user's.
    """

    change: Change
    kind: Kind
    old: str
    message: str
    place: RecordedPlace
    count: int = 1
    framework: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"

    def to_dict(self) -> dict[str, object]:
        return {
            "file": self.place.file,
            "line": self.place.line,
            "old": self.old,
            "kind": self.kind.value,
            "message": self.message,
            "gone": self.change.gone,
            "source": self.change.address,
            "count": self.count,
            "framework": self.framework,
        }


class Journal:
    """All uses in this process; each of the user's is logged once, and a line for a framework.

    What changed without an error is told once the script is known to be an older one: it may be
    from after the change.
    """

    def __init__(self) -> None:
        self._uses: dict[tuple[RecordedPlace, str], LegacyUse] = {}
        self._untold: dict[tuple[RecordedPlace, str], LegacyUse] = {}
        self._lock = threading.Lock()
        self._tells_at_exit = False

    def note(
        self, change: Change, kind: Kind, old: str, message: str, place: RecordedPlace | None = None
    ) -> LegacyUse:
        """Remember a use, and log it if it is the first in its line.

        Args:
            change: the row of the table.
            kind: what the layer does about it.
            old: the old spelling.
            message: the message to the user.
            place: the line that has it, if it is not the one that is being executed.
        """
        place, owner = _calling_line() if place is None else (place, owner_of_file(place.file))
        framework = owner.name if owner.whose is Whose.FRAMEWORK else ""
        use = LegacyUse(change, kind, old, message, place, framework=framework)
        if framework and kind in (Kind.TOLD, Kind.IMPORTED):
            return use  # it was written for the releases that it requires
        is_said = owner.whose not in _CALLING and _is_noted(old)
        if is_said and kind is Kind.TOLD:
            return use
        with self._lock:
            is_untold = kind is Kind.TOLD and not self._is_of_older_script
            uses = self._untold if is_untold else self._uses
            known = uses.get((place, old))
            if known is not None:
                known.count += kind is not Kind.REFUSED
                if known.kind is Kind.IMPORTED:
                    known.kind = kind
                return known
            uses[place, old] = use
            due = [] if is_said else [use]
            if self._is_of_older_script:
                due += self._untold.values()
                self._uses |= self._untold
                self._untold.clear()
        if framework:
            self._tell_at_exit()
        for each in due if is_first_rank() and not is_untold and not framework else ():
            if each.kind is not Kind.REFUSED:  # an error speaks for itself
                logger.warning("patchkit: %s", each)
        return use

    @property
    def _is_of_older_script(self) -> bool:
        """Whether the user's own code has something that the libraries no longer take."""
        return any(use.kind is not Kind.TOLD and not use.framework for use in self._uses.values())

    def _tell_at_exit(self) -> None:
        if not self._tells_at_exit:
            self._tells_at_exit = True
            atexit.register(self._tell_frameworks)

    def _tell_frameworks(self) -> None:
        for line in lines_of_frameworks(self.uses()) if is_first_rank() else ():
            logger.warning("patchkit: %s", line)

    def uses(self) -> tuple[LegacyUse, ...]:
        with self._lock:
            return tuple(self._uses.values())

    def clear(self) -> None:
        with self._lock:
            self._uses.clear()
            self._untold.clear()


def _is_noted(old: str) -> bool:
    """Tell whether the process that started this one has noted something; else remember that."""
    noted, here = os.environ.get(_NOTED, "").split("\n"), f"{os.getpid()} {old}"
    if here in noted:
        return False
    if any(line.partition(" ")[2] == old for line in noted):
        return True
    os.environ[_NOTED] = "\n".join([*noted, here])
    return False


def is_first_rank() -> bool:
    """Tell whether this process is the one that logs for all that train together."""
    return os.environ.get("RANK", os.environ.get("LOCAL_RANK", "0")) in ("", "0")


def lines_of_frameworks(uses: Iterable[LegacyUse]) -> list[str]:
    """Return a line for each framework: how much in it is from an older release, and what."""
    found: dict[str, list[str]] = {}
    for use in uses:
        if use.framework and use.kind is Kind.FIXED:
            found.setdefault(use.framework, []).append(use.old)
    return [
        f"{name} {installed_version(name) or ''}".rstrip()
        + f" is for older releases in {plural(len(old), 'place')}, which the legacy layer "
        f"makes work: {short_list(dict.fromkeys(old), _SHOWN)}"
        for name, old in found.items()
    ]


def _calling_line() -> tuple[RecordedPlace, CodeOwner]:
    """Return the innermost line of a user's or framework's that is being executed, and whose."""
    frame: FrameType | None = sys._getframe(1)
    outermost = frame
    while frame is not None:
        outermost = frame
        if owner_of_frame(frame).whose in _CALLING:
            break
        frame = frame.f_back
    assert outermost is not None
    place = RecordedPlace(outermost.f_code.co_filename, outermost.f_lineno)
    return place, owner_of_frame(outermost)


def calling_frame() -> FrameType | None:
    """Return the frame that makes the guarded call which is being executed."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _module(frame).partition(".")[0] in ("patchkit", "wrapt"):
        frame = frame.f_back
    return frame


def calling_script() -> FrameType | None:
    """Return the innermost frame of a user's or framework's code; None if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and owner_of_frame(frame).whose not in _CALLING:
        frame = frame.f_back
    return frame


def calling_module() -> str:
    """Return the module of that frame."""
    frame = calling_frame()
    return "" if frame is None else _module(frame)


def calling_package() -> str:
    """Return the package of that module."""
    return calling_module().partition(".")[0]


def called_by_library() -> bool:
    """Tell whether a library itself makes the guarded call that is being executed."""
    frame = calling_frame()
    return frame is None or owner_of_frame(frame).whose not in _CALLING


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))

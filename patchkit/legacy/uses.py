"""The old spellings that a script used, and the lines that have them."""

from __future__ import annotations

import inspect
import logging
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from types import FrameType
from typing import Any

from ..libraries import with_role
from .changes import Change

logger = logging.getLogger("patchkit.legacy")

_LIBRARIES = frozenset({"patchkit", *with_role("frames")})
_PASSED_ON = frozenset({"importlib", "_frozen_importlib", "functools", "contextlib", "wrapt"})


class Kind(str, Enum):
    """What the layer did about an old spelling."""

    FIXED = "fixed"
    """The script goes on as if it had the new one."""
    TOLD = "told"
    """The script goes on; its results may differ from those of the older release."""
    REFUSED = "refused"
    """An error was raised."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class RecordedPlace:
    """A line of the user's code."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"

    @classmethod
    def of_function(cls, function: Callable[..., Any]) -> RecordedPlace:
        """Return where a function begins, below what is wrapped around it."""
        code = inspect.unwrap(function).__code__
        return cls(code.co_filename, code.co_firstlineno)


@dataclass
class LegacyUse:
    """An old spelling in one line of the user's.

    Args:
        change: the row of the table.
        kind: what the layer did about it.
        old: the old spelling, as in the script.
        message: the message to the user, without the place.
        place: the line.
        count: how often it ran.
    """

    change: Change
    kind: Kind
    old: str
    message: str
    place: RecordedPlace
    count: int = 1

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
        }


@dataclass
class Journal:
    """All uses in this process; each is logged once."""

    _uses: dict[tuple[RecordedPlace, str], LegacyUse] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

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
        place = place or users_line()
        with self._lock:
            known = self._uses.get((place, old))
            if known is not None:
                # An import asks several times before it fails.
                known.count += kind is not Kind.REFUSED
                return known
            use = self._uses[place, old] = LegacyUse(change, kind, old, message, place)
        if kind is not Kind.REFUSED and is_first_rank():  # an error speaks for itself
            logger.warning("patchkit: %s", use)
        return use

    def uses(self) -> tuple[LegacyUse, ...]:
        with self._lock:
            return tuple(self._uses.values())

    def clear(self) -> None:
        with self._lock:
            self._uses.clear()


def is_first_rank() -> bool:
    """Tell whether this process is the one that logs for all that train together."""
    return os.environ.get("RANK", os.environ.get("LOCAL_RANK", "0")) in ("", "0")


def users_line() -> RecordedPlace:
    """Return the line of the user's that is being executed."""
    frame: FrameType | None = sys._getframe(1)
    outermost = frame
    while frame is not None:
        outermost = frame
        if _is_users(frame):
            break
        frame = frame.f_back
    assert outermost is not None
    return RecordedPlace(outermost.f_code.co_filename, outermost.f_lineno)


def calling_frame() -> FrameType | None:
    """Return the frame that makes the guarded call which is being executed."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _package(frame) in ("patchkit", "wrapt"):
        frame = frame.f_back
    return frame


def calling_module() -> str:
    """Return the module of that frame."""
    frame = calling_frame()
    return "" if frame is None else _module(frame)


def calling_package() -> str:
    """Return the package of that module."""
    return calling_module().partition(".")[0]


def called_by_user() -> bool:
    """Tell whether the guarded call that is being executed stands in code of the user's."""
    return calling_package() not in _LIBRARIES | _PASSED_ON


def _is_users(frame: FrameType) -> bool:
    return _package(frame) not in _LIBRARIES | _PASSED_ON


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _package(frame: FrameType) -> str:
    return _module(frame).partition(".")[0]

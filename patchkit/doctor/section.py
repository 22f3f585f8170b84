"""What one check of the doctor found: rows to read, facts for programs, steps to take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .privacy import without_private_data


@dataclass(frozen=True)
class Step:
    """Something to do.

    Args:
        what: what is so, in a sentence or two.
        do: commands or lines of code that mend it, any one of them; each may be several lines.
        wrong: something is wrong that patchkit does not mend by itself.
    """

    what: str
    do: tuple[str, ...] = ()
    wrong: bool = False


@dataclass(frozen=True)
class Row:
    """A label and what is to be said under it; a label of "" goes on with the one before."""

    label: str
    text: str
    alarming: bool = False


@dataclass(frozen=True)
class Section:
    """What one check found.

    Args:
        name: its key in JSON.
        title: its heading.
        rows: what a person reads.
        facts: the same for programs; JSON can hold it.
        steps: what to do about it.
    """

    name: str
    title: str
    rows: tuple[Row, ...] = ()
    facts: Any = None
    steps: tuple[Step, ...] = field(default=())


def checked(name: str, title: str, check: Callable[[], Section]) -> Section:
    """What a check finds; where it fails itself, a section that says why."""
    try:
        return check()
    except (Exception, SystemExit) as error:  # a patch file may do anything
        reason = without_private_data(f"{type(error).__name__}: {error}")
        row = Row("", f"could not be found out: {reason}", alarming=True)
        return Section(name, title, (row,), {"unknown": reason})

"""Hold the result of a check: rows to read, facts for programs, steps and their commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .privacy import without_private_data


@dataclass(frozen=True)
class Step:
    """A step to take.

    Args:
        what: the situation, in a sentence or two.
        do: commands or lines of code, any one of which fixes it; each may be several lines.
        wrong: whether something is wrong that patchkit does not fix.
    """

    what: str
    do: tuple[str, ...] = ()
    wrong: bool = False


@dataclass(frozen=True)
class SectionRow:
    """A label and the text beside it; a label of "" continues the row before."""

    label: str
    text: str
    alarming: bool = False


@dataclass(frozen=True)
class Section:
    """The result of one check.

    Args:
        name: its key in JSON.
        title: its heading.
        rows: the result for people.
        facts: the same for programs, as JSON can hold it.
        steps: the steps to take.
    """

    name: str
    title: str
    rows: tuple[SectionRow, ...] = ()
    facts: Any = None
    steps: tuple[Step, ...] = field(default=())


def run_check(name: str, title: str, check: Callable[[], Section]) -> Section:
    """Run a check; if it fails itself, return a section that says why."""
    try:
        return check()
    except (Exception, SystemExit) as error:  # a patch file may do anything
        reason = without_private_data(f"{type(error).__name__}: {error}")
        row = SectionRow("", f"could not be checked: {reason}", alarming=True)
        return Section(name, title, (row,), {"unknown": reason})

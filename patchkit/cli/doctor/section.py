"""Hold the result of a check: rows to read, facts for programs, steps and their commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .privacy import without_private_data

if TYPE_CHECKING:
    from ...reporting.pins import Pins

_APART = "Only an environment of its own for one of them fixes this."


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

    def within(self, pins: Pins) -> Step:
        """Return the step without pip commands that contradict a requirement, or change nothing.

        Where no command is left, the step says which requirement rules them out.
        """
        from ...reporting.pins import fit

        commands: dict[str, None] = {}
        reasons: dict[str, None] = {}
        for command in self.do:
            fitting, pin = fit(command, pins)
            if fitting:
                commands[fitting] = None
            elif pin is not None:
                reasons[str(pin)] = None
        if not commands and reasons:
            what = f"{self.what} What would fix it is ruled out: {'; '.join(reasons)}. {_APART}"
            return replace(self, what=what, do=())
        return replace(self, do=tuple(commands))


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
    steps: tuple[Step, ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        found: Iterable[SectionRow | Step],
        facts: Any = None,
        *,
        nothing: str = "",
    ) -> Section:
        """Return the section with these rows and steps; `nothing` is its text if it has no row."""
        found = list(found)
        rows = [row for row in found if isinstance(row, SectionRow)] or [SectionRow("", nothing)]
        steps = (step for step in found if isinstance(step, Step))
        return cls(name, title, tuple(rows), facts, tuple(steps))


def run_check(name: str, title: str, check: Callable[[], Section]) -> Section:
    """Run a check; if it fails itself, return a section that says why."""
    try:
        return check()
    except (Exception, SystemExit) as error:  # a patch file may do anything
        reason = without_private_data(f"{type(error).__name__}: {error}")
        row = SectionRow("", f"could not be checked: {reason}", alarming=True)
        return Section(name, title, (row,), {"unknown": reason})

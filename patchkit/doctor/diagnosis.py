"""All that the doctor finds, in the order in which it matters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ..environment import looked_up_once
from .section import Section, Step, checked

SCHEMA = 1


@dataclass(frozen=True)
class Diagnosis:
    """What was found here. Prints as text of 80 columns; nothing in it is private.

    Args:
        sections: one of each check.
    """

    sections: tuple[Section, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """What to do: first what is wrong."""
        steps = [step for section in self.sections for step in section.steps]
        return tuple(sorted(steps, key=lambda one: not one.wrong))

    @property
    def exit_status(self) -> int:
        """1 if something is wrong that patchkit does not mend, 0 if not."""
        return 1 if any(step.wrong for step in self.steps) else 0

    def to_dict(self) -> dict[str, Any]:
        steps = [{"what": one.what, "do": list(one.do), "wrong": one.wrong} for one in self.steps]
        return {
            "schema": SCHEMA,
            "steps": steps,
            **{section.name: section.facts for section in self.sections},
        }

    def __str__(self) -> str:
        from .rendering import as_text

        return as_text(self.steps, self.sections)


def diagnose(*, quick: bool = False) -> Diagnosis:
    """Look at this installation. Nothing is imported of the libraries in this process.

    Args:
        quick: leave out what needs torch, which takes seconds: devices, and bitsandbytes on them.

    Returns:
        what was found; a check that fails itself is a finding that says why.
    """
    from . import devices, due, pairs, patchers, requirements, variables, versions

    checks: dict[ModuleType, Callable[[], Section]] = {
        versions: versions.check,
        requirements: requirements.check,
        pairs: pairs.check,
        devices: lambda: devices.check(quick=quick),
        due: due.check,
        variables: variables.check,
        patchers: patchers.check,
    }
    with looked_up_once():
        return Diagnosis(
            tuple(checked(module.NAME, module.TITLE, check) for module, check in checks.items())
        )

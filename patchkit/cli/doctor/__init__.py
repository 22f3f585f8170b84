"""Diagnose an installation: list what is wrong, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...environment import cached_lookups
from .section import Section, Step, run_check

if TYPE_CHECKING:
    from ...reporting.pins import Pins

SCHEMA = 1


@dataclass(frozen=True)
class Diagnosis:
    """A diagnosis of this installation; prints as 80 columns, and holds nothing private.

    Its steps keep to the pins.
    """

    sections: tuple[Section, ...]
    pins: Pins = field(repr=False)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps to take, those that fix something wrong first.

        None of their commands contradicts what an installed distribution requires.
        """
        steps = (step.within(self.pins) for section in self.sections for step in section.steps)
        return tuple(sorted(steps, key=lambda step: not step.wrong))

    @property
    def exit_status(self) -> int:
        """1 if something is wrong that patchkit does not fix, 0 if not."""
        return 1 if any(step.wrong for step in self.steps) else 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "steps": [{**vars(step), "do": list(step.do)} for step in self.steps],
            **{section.name: section.facts for section in self.sections},
        }

    def __str__(self) -> str:
        from .rendering import as_text

        return as_text(self.steps, self.sections)


def diagnose(*, quick: bool = False) -> Diagnosis:
    """Check this installation, without importing the libraries in this process.

    `quick` skips the checks that need torch, which take seconds: devices and bitsandbytes.

    Returns:
        the diagnosis; a check that fails itself has a section that says why.
    """
    from ...reporting.pins import pins_here
    from . import devices, due, frameworks, kept, pairs, patchers, requirements, variables, versions

    pins = pins_here()
    checks: dict[ModuleType, Callable[[], Section]] = {
        versions: versions.check,
        frameworks: lambda: frameworks.check(pins),
        requirements: lambda: requirements.check(pins),
        pairs: pairs.check,
        devices: lambda: devices.check(quick=quick),
        due: due.check,
        variables: variables.check,
        kept: kept.check,
        patchers: patchers.check,
    }
    with cached_lookups():
        return Diagnosis(
            tuple(run_check(module.NAME, module.TITLE, check) for module, check in checks.items()),
            pins,
        )

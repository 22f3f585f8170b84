"""Keep the steps that the doctor prints to what installed distributions require."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...reporting.pins import Pins, fit
from .section import Step

_APART = "Only an environment of its own for one of them fixes this."


def within_pins(steps: Iterable[Step], pins: Pins) -> tuple[Step, ...]:
    """Return steps whose pip commands contradict no installed requirement, and change something.

    Where no command is left, the step says which requirement rules them out.
    """
    return tuple(_kept_step(step, pins) for step in steps)


def _kept_step(step: Step, pins: Pins) -> Step:
    commands: dict[str, None] = {}
    reasons: dict[str, None] = {}
    for command in step.do:
        fitting, pin = fit(command, pins)
        if fitting:
            commands[fitting] = None
        elif pin is not None:
            reasons[str(pin)] = None
    if not commands and reasons:
        what = f"{step.what} What would fix it is ruled out: {'; '.join(reasons)}. {_APART}"
        return replace(step, what=what, do=())
    return replace(step, do=tuple(commands))

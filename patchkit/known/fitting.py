"""Keep the pip commands of answers to what installed distributions require."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from ..reporting.pins import Pins, advised, pins_here
from .answer import Answer
from .answering import Found
from .reading import Pasted


def fitted(
    found: Found,
    pasted: Pasted,
    installed: Callable[[str], str | None],
    pins: Callable[[], Pins] = pins_here,
) -> Found:
    """Return the answers without pip commands that break what is installed; they say what would.

    An error that names other versions than are installed is of another environment, whose
    requirements nobody knows here.

    Args:
        found: the answers.
        pasted: the text.
        installed: gives the version of an installed distribution.
        pins: gives the requirements that count here; is called once, if there are pip commands.
    """
    if any(installed(name) not in (None, named) for name, named in pasted.versions.items()):
        return found
    pins = cache(pins)
    return replace(found, answers=tuple(_fitted(answer, pins) for answer in found.answers))


def _fitted(answer: Answer, pins: Callable[[], Pins]) -> Answer:
    lines: list[str] = []
    reasons: dict[str, None] = {}
    for written in answer.write:
        line, pin = advised(written, pins)
        if pin is not None:
            reasons[str(pin)] = None
        else:
            lines.append(line)
    if not reasons:
        return replace(answer, write=tuple(lines))
    ruled_out = "What else would help" if lines else "The command for that"
    do = f"{answer.do} {ruled_out} is ruled out here: {'; '.join(reasons)}."
    return replace(answer, do=do, write=tuple(lines))

"""Keep the pip commands of answers to what installed distributions require."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from .answer import Answer
from .answering import Found
from .pasted import Pasted

_NAMES_A_RELEASE = re.compile(r"pip install (?:-\S+ )*'?[\w-]+[<=>][^\s;&]+$")
"""A command that installs one release, short enough to stand in a sentence."""

if TYPE_CHECKING:
    from ..reporting.pins import Pins


def fitted(
    found: Found,
    pasted: Pasted,
    installed: Callable[[str], str | None],
    pins: Callable[[], Pins] | None = None,
) -> Found:
    """Return the answers without pip commands that break what is installed; they say what would.

    An error that names other versions than are installed is of another environment, whose
    requirements nobody knows here.

    Args:
        found: the answers.
        pasted: the text.
        installed: gives the version of an installed distribution.
        pins: gives the requirements that count; those that count here if None. It is called once,
            if there are pip commands.
    """
    if not any("pip" in line for answer in found.answers for line in answer.write):
        return found  # what reads requirements takes long to import
    if any(installed(name) not in (None, named) for name, named in pasted.versions.items()):
        return found
    from ..reporting.pins import pins_here

    counting = cache(pins or pins_here)
    return replace(found, answers=tuple(_fitted(answer, counting) for answer in found.answers))


def _fitted(answer: Answer, pins: Callable[[], Pins]) -> Answer:
    from ..reporting.pins import advised

    lines: list[str] = []
    held: list[str] = []
    reasons: dict[str, None] = {}
    for written in answer.write:
        line, pin = advised(written, pins)
        if pin is not None:
            reasons[str(pin)] = None
            held += _NAMES_A_RELEASE.findall(written)
        else:
            lines.append(line)
    if not reasons:
        return replace(answer, write=tuple(lines))
    ruled_out = "What else would help" if lines else "The command for that"
    do = f"{answer.do} {ruled_out} is ruled out here: {'; '.join(reasons)}."
    if held:
        do += f" An environment of its own takes it: {held[0]}"
    return replace(answer, do=do, write=tuple(lines))

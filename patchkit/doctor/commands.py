"""Commands as a step prints them: no line is too long to be copied off a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable

WIDTH = 72
_PLAIN = re.compile(r"[\w.\-=/]+")


def pip_install(requirements: Iterable[str]) -> str:
    """`pip install` of requirements, in several lines where one would be too long."""
    words = [one if _PLAIN.fullmatch(one) else f"'{one}'" for one in requirements]
    lines, line = [], "pip install"
    for word in words:
        if len(line) + 1 + len(word) > WIDTH - 2:
            lines.append(line + " \\")
            line = "   "
        line += f" {word}"
    return "\n".join([*lines, line])

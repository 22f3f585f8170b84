"""Format commands for a step: lines short enough to be copied from a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable

WIDTH = 72
_PLAIN = re.compile(r"[\w.\-=/]+")


def pip_install(requirements: Iterable[str]) -> str:
    """Return the `pip install` of requirements, in several lines if one would be too long."""
    words = [
        requirement if _PLAIN.fullmatch(requirement) else f"'{requirement}'"
        for requirement in requirements
    ]
    lines, line = [], "pip install"
    for word in words:
        if len(line) + 1 + len(word) > WIDTH - 2:
            lines.append(line + " \\")
            line = "   "
        line += f" {word}"
    return "\n".join([*lines, line])

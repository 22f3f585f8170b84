"""Edits of a file, shown as a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field

from .edit import Edit, apply_edits


@dataclass(frozen=True)
class Difference:
    """The change of one patch in one file; it is made into text only when it is read.

    Args:
        name: short name of the file.
        lines: returns its unchanged lines; none where they can no longer be read.
        edits: the change.
    """

    name: str
    lines: Callable[[], tuple[str, ...]] = field(compare=False)
    edits: tuple[Edit, ...]

    def __str__(self) -> str:
        before = self.lines()
        if not before:
            return f"# {self.name} has changed since it was imported: its text cannot be shown\n"
        after = apply_edits(before, self.edits)
        diff = difflib.unified_diff(before, after, self.name, f"<patchkit>/{self.name}", n=2)
        return "".join(diff)

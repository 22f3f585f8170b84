"""Edits of a file, shown as a unified diff."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from .edit import Edit, apply_edits


@dataclass(frozen=True)
class Difference:
    """The change of one patch in one file; it is made into text only when it is read."""

    name: str
    before: tuple[str, ...]
    edits: tuple[Edit, ...]

    def __str__(self) -> str:
        after = apply_edits(self.before, self.edits)
        diff = difflib.unified_diff(self.before, after, self.name, f"<patchkit>/{self.name}", n=2)
        return "".join(diff)

"""What became of one patch where its reproducer was run."""

from __future__ import annotations

from dataclasses import dataclass

from ..matrix.outcome_table import NOT_DUE

NO_ERROR = "no error"
"""What a side of a verdict says where the reproducer returned."""


@dataclass(frozen=True)
class Verdict:
    """What became of one patch.

    Args:
        id: the patch.
        outcome: `mended` (the bug showed without the patch and not with it), `not-mended`,
            `not-reproduced` (no bug without the patch either: it may be fixed upstream),
            `not-affected`, `needs-cuda` or another `needs-…` (the reproducer needs what this
            machine lacks; what shows of the bug all the same, if anything, is mended), or `error`
            (the reproducer failed for another reason). With `everywhere`, also `absent` (not due,
            and no bug showed) and `present` (not due, and the bug showed all the same).
        without: what happened without the patch, in one line.
        with_patch: what happened with it.
    """

    id: str
    outcome: str
    without: str = ""
    with_patch: str = ""

    @property
    def is_due(self) -> bool:
        """Whether the patch claims the installed versions."""
        return self.outcome not in NOT_DUE

"""The verdict on a patch after its reproducer ran."""

from __future__ import annotations

from dataclasses import dataclass

from ..matrix.outcome_table import NOT_DUE

NO_ERROR = "no error"
"""Text of a side of a verdict if the reproducer returned."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on one patch.

    Args:
        id: the patch.
        outcome: `fixed` (the bug showed without the patch and not with it), `not-fixed`,
            `made-worse` (no bug without the patch, and with it the reproducer failed),
            `not-reproduced` (no bug without the patch either: it may be fixed upstream),
            `not-affected`, `needs-cuda` or another `needs-…` (this machine lacks what the
            reproducer needs; the part of the bug that shows anyway, if any, is fixed), or `error`
            (the reproducer failed without the patch, for another reason). With `everywhere`, also
            `absent` (not due, and no bug showed) and `present` (not due, but the bug showed).
        without: what happened without the patch, in one line.
        with_patch: what happened with it.
    """

    id: str
    outcome: str
    without: str = ""
    with_patch: str = ""

    @property
    def is_due(self) -> bool:
        """True if the patch claims the installed versions."""
        return self.outcome not in NOT_DUE

    @property
    def was_not_run(self) -> bool:
        """True if an error came before the reproducer: of the patch, or of a version."""
        return self.outcome == "error" and not self.with_patch

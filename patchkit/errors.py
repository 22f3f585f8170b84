"""The errors and the warning that users see."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any


class PatchError(Exception):
    """Base of all errors of patchkit: what is wrong, what was expected, what to do."""


class UsageError(PatchError, ValueError):
    """An argument or an environment variable does not make sense."""


class UnknownPatchError(UsageError):
    """An id or glob names no patch; the message names the nearest ones."""


class PatchDefinitionError(PatchError):
    """A patch file is not a valid definition; the message names the patch."""


class PreflightError(PatchError):
    """Training would fail or go wrong, and was stopped before it began.

    Args:
        findings: what was found, a `patchkit.Findings`.
    """

    def __init__(self, findings: object) -> None:
        super().__init__(str(findings))
        self.findings: Any = findings


class UnreadableVersion(ValueError):
    """An installed library gives as its version something that is not a version."""

    def __init__(self, library: str, version: str) -> None:
        super().__init__(f"{library} is installed, but its version {version!r} is not a version")
        self.library = library

    @property
    def advice(self) -> str:
        """What to do."""
        return f"reinstall {self.library}"


class PatchWarning(UserWarning):
    """A due patch does not hold: it drifted, failed, or was overridden."""

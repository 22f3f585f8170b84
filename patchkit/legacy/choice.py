"""What a user can choose: `apply(legacy=…)` and `PATCHKIT_LEGACY`."""

from __future__ import annotations

import os

from ..errors import UsageError

VARIABLE = "PATCHKIT_LEGACY"
ON = "on"
"""The choice of somebody who names no versions."""
_YES = ("1", "true", "on", "yes")
_NO = ("", "0", "false", "off", "no")


def checked(value: object) -> str | None:
    """Return a choice as text.

    Args:
        value: True, False, None, or versions such as `trl==0.11.4, transformers==4.44.2`.

    Returns:
        None for off; the versions, or `ON` if none are named.

    Raises:
        UsageError: it is something else.
    """
    if value is None or value is False:
        return None
    if value is True:
        return ON
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise UsageError(
        f"legacy= must be True, False, or the versions that a script was written for, such as "
        f"'trl==0.11.4, transformers==4.44.2'; not {value!r}"
    )


def from_environment() -> str | None:
    """Return what the variable chooses."""
    text = os.environ.get(VARIABLE, "").strip()
    if text.lower() in _NO:
        return None
    return ON if text.lower() in _YES else text

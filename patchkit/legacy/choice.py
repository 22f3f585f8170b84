"""What a user can choose: `apply(legacy=…)` and `PATCHKIT_LEGACY`."""

from __future__ import annotations

import os

from ..errors import UsageError
from ..settings import variable_name, yes_or_no

ON = "on"
"""The choice of somebody who names no versions."""


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
    text = os.environ.get(variable_name("legacy"), "").strip()
    switched_on = yes_or_no(text)
    return checked(text if switched_on is None else switched_on)

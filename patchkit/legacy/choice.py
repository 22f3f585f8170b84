"""What a user can choose: `apply(legacy=…)` and `PATCHKIT_LEGACY`."""

from __future__ import annotations

import os

from ..errors import UsageError
from ..settings import variable_name, yes_or_no

Choice = bool | str | None
"""True for on, False for off, versions for on with their defaults; None if nobody chose."""


def checked(value: object) -> Choice:
    """Return a choice, without blanks around its versions.

    Args:
        value: True, False, None, or versions such as `trl==0.11.4, transformers==4.44.2`.

    Raises:
        UsageError: it is something else.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise UsageError(
        f"legacy= must be True, False, or the versions that a script was written for, such as "
        f"'trl==0.11.4, transformers==4.44.2'; not {value!r}"
    )


def from_environment() -> Choice:
    """Return what the variable chooses; without it, or with a no, the layer is off."""
    text = os.environ.get(variable_name("legacy"), "").strip()
    switched_on = yes_or_no(text)
    return checked(text if switched_on is None else switched_on)
